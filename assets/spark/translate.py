"""Translates a large text on Spark with `interlinear translate`, and puts the results in the order of the text.

    spark-submit translate.py --program interlinear --models model.tar.gz --model model/rnnsearch-en-fr \
        text.en translated -- --beam 1

Every partition is a process of `interlinear translate --ids --format jsonl` that Spark feeds through `pipe`. Program and
models are shipped with the job. A line has its number before it and its result has it too, so that at the end none is
missing, none is there twice, and all are in order; otherwise the job fails. Options behind -- are those of translate;
with --no-alpha there the results take a tenth of the room.

The text is translated part by part. A part that is finished stays in OUTPUT.raw, and the same command goes on behind it,
whatever ended the job before: no part is translated twice. When all is well, OUTPUT.raw can be removed.
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
    parser.add_argument("output", help="the folder of the results; OUTPUT.raw has the parts that are finished")
    parser.add_argument("--program", required=True, help="interlinear, built for the machines")
    parser.add_argument("--models", required=True, help="a .tar.gz with model folders")
    parser.add_argument("--model", required=True, help="a model in it, as model/NAME")
    parser.add_argument("--part", type=int, default=500_000, help="lines of a part")
    parser.add_argument("--partitions", type=int, default=200, help="how many processes share a part")
    parser.add_argument("--files", type=int, default=8, help="how many files the results are in")
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    return parser.parse_args(sys.argv[1:split]), sys.argv[split + 1 :]


def command(folder, args, options):
    """The command of a partition. The program's file is called as it was when it was shipped."""
    program = f"{folder}/{args.program.rsplit('/', 1)[-1]}"
    words = [program, "translate", "--model", f"{folder}/{args.model}", "--ids", "--keep-going", "--format", "jsonl"]
    # One process a core: Spark runs as many as it has.
    return " ".join(shlex.quote(word) for word in [*words, "--threads", "1", *options])


class Store:
    """Files and folders on the storage of the results."""

    def __init__(self, context):
        self.jvm, self.settings = context._jvm, context._jsc.hadoopConfiguration()

    def at(self, path):
        place = self.jvm.org.apache.hadoop.fs.Path(path)
        return place.getFileSystem(self.settings), place

    def has(self, path):
        files, place = self.at(path)
        return files.exists(place)

    def remove(self, path):
        files, place = self.at(path)
        files.delete(place, True)

    def is_whole(self, folder):
        """Whether Spark wrote all of a folder."""
        return self.has(f"{folder}/_SUCCESS")


def require_same(context, store, raw, job):
    """Parts of another text, model or size are no beginning of this job."""
    kept = f"{raw}/job"
    if store.is_whole(kept):
        before = "\n".join(context.textFile(kept).collect())
        if before != job:
            sys.exit(f"{raw} has parts of another job ({before}); name another output, or remove it")
        return
    if store.has(raw) and not store.has(kept):
        sys.exit(f"{raw} is there and is not of this program; name another output")
    store.remove(kept)
    context.parallelize([job], 1).saveAsTextFile(kept)


def translate(context, store, numbered, count, args, words):
    """Translates every part that is not there yet."""
    for first in range(0, count, args.part):
        last = min(first + args.part, count)
        part = f"{args.output}.raw/lines-{first + 1:012d}"
        if store.is_whole(part):
            print(f"lines {first + 1} to {last} are there already")
            continue
        # What a job that died has begun is begun anew.
        store.remove(part)
        chosen = numbered.filter(lambda pair, first=first, last=last: first <= pair[1] < last)
        lines = chosen.map(lambda pair: f"{pair[1] + 1}\t{pair[0]}").repartition(args.partitions)
        # A process that fails fails its partition, whose lines are thrown away; Spark tries it again.
        lines.pipe(words, checkCode=True).saveAsTextFile(part)


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

    store, raw = Store(context), f"{args.output}.raw"
    if store.is_whole(args.output):
        sys.exit(f"{args.output} is there already; name another output, or remove it")
    words = command(folder, args, options)
    numbered = context.textFile(args.source, args.partitions).zipWithIndex()
    count = numbered.count()
    shown = " ".join(shlex.quote(word) for word in [args.model, *options])
    require_same(context, store, raw, f"{count} lines of {args.source}, {args.part} a part, {shown}")
    translate(context, store, numbered, count, args, words)

    if store.has(f"{args.output}/_temporary"):
        # A job that died while it sorted.
        store.remove(args.output)
    results = context.textFile(f"{raw}/lines-*").map(lambda line: (number(line), line))
    results.sortByKey(numPartitions=args.files).values().saveAsTextFile(args.output)

    numbers = context.textFile(args.output).map(number)
    got, different = numbers.count(), numbers.distinct().count()
    refused = context.textFile(args.output).filter(lambda line: '"error":' in line[:400]).count()
    spark.stop()
    print(f"{got} results for {count} lines; {refused} lines could not be read by the model")
    if not (got == different == count):
        sys.exit(f"{count - different} lines have no result, and {got - different} have more than one")


if __name__ == "__main__":
    main()
