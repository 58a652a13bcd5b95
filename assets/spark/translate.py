"""Translates a large text on Spark with `interlinear translate`, and puts the results in the order of the text.

    spark-submit translate.py --program interlinear --models model.tar.gz --model model/rnnsearch-en-fr \
        text.en translated -- --beam 1

Every partition is a process of `interlinear translate --ids --format jsonl` that Spark feeds through `pipe`. Program and
models are shipped with the job. A line has its number before it and its result has it too, so that at the end none is
missing, none is there twice, and all are in order; otherwise the job fails. Options behind -- are those of translate.
"""

import argparse
import json
import shlex
import sys

from pyspark import SparkFiles
from pyspark.sql import SparkSession


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("source", help="a text with a sentence a line, on storage that every machine reads")
    parser.add_argument("output", help="the folder of the results; OUTPUT.raw must not be there either")
    parser.add_argument("--program", required=True, help="interlinear, built for the machines")
    parser.add_argument("--models", required=True, help="a .tar.gz with model folders")
    parser.add_argument("--model", required=True, help="a model in it, as model/NAME")
    parser.add_argument("--partitions", type=int, default=200, help="how many processes share the text")
    parser.add_argument("--files", type=int, default=8, help="how many files the results are in")
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    return parser.parse_args(sys.argv[1:split]), sys.argv[split + 1 :]


def command(folder, args, options):
    """The command of a partition. The program's file is called as it was when it was shipped."""
    program = f"{folder}/{args.program.rsplit('/', 1)[-1]}"
    words = [program, "translate", "--model", f"{folder}/{args.model}", "--ids", "--keep-going", "--format", "jsonl"]
    # One process a core: Spark runs as many as it has.
    return " ".join(shlex.quote(word) for word in [*words, "--threads", "1", *options])


def number(line):
    """The number of a result. It is the first key, so that alpha need not be read."""
    end = line.index('"', 7)
    return int(line[7:end]) if line.startswith('{"id":"') else int(json.loads(line)["id"])


def main():
    args, options = arguments()
    spark = SparkSession.builder.appName("interlinear translate").getOrCreate()
    context = spark.sparkContext
    context.addFile(args.program)
    context.addArchive(f"{args.models}#model")
    # Executors find shipped files where they stand; the driver of a local run does not.
    folder = SparkFiles.getRootDirectory() if context.master.startswith("local") else "."

    lines = context.textFile(args.source, args.partitions).zipWithIndex()
    count = lines.count()
    numbered = lines.map(lambda pair: f"{pair[1] + 1}\t{pair[0]}")
    if numbered.getNumPartitions() < args.partitions:
        numbered = numbered.repartition(args.partitions)
    # A process that fails fails its partition, whose lines are thrown away; Spark tries it again. What is written is kept by
    # whole partitions, so nothing below translates anything twice.
    results = numbered.pipe(command(folder, args, options), checkCode=True)
    results.saveAsTextFile(f"{args.output}.raw")

    raw = context.textFile(f"{args.output}.raw").map(lambda line: (number(line), line))
    raw.sortByKey(numPartitions=args.files).values().saveAsTextFile(args.output)

    numbers = context.textFile(args.output).map(number)
    got, different = numbers.count(), numbers.distinct().count()
    refused = context.textFile(args.output).filter(lambda line: '"error":' in line[:400]).count()
    spark.stop()
    print(f"{got} results for {count} lines; {refused} lines could not be read by the model")
    if not (got == different == count):
        sys.exit(f"{count - different} lines have no result, and {got - different} have more than one")


if __name__ == "__main__":
    main()
