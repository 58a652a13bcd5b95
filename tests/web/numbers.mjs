// Asks the worker of the built site, in headless Chromium, what the program of the desk is asked, and compares: log p and alpha
// within 1e-5, the same words. Wants playwright-core and cbor-x from npm where it is run:
//   node tests/web/numbers.mjs SITE target/release/interlinear
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { address, browser, closed, rest, site, told, wanted } from './site.mjs';

const { decode } = wanted('cbor-x');
const [program] = rest;
const sentences = [
  'The old man reads a book in the garden.',
  'She did not know where the train would stop.',
  'We bought three red apples at the market yesterday morning because they were cheap and very good.',
  'The old man who lives in the small house near the river reads a long book in the garden every morning.',
];
const models = Object.keys(JSON.parse(readFileSync(join(site, 'models.json'))));

const page = await browser.newPage();
page.on('pageerror', error => told('the page', false, error.message));
page.on('console', line => { if (line.type() === 'error') console.log(line.text()); });
await page.route('**/empty.html', route => route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }));
await page.goto(`${address}empty.html`);
await page.evaluate(async () => {
  const module = await WebAssembly.compileStreaming(fetch('interlinear_bg.wasm'));
  window.events = [];
  window.worker = new Worker('worker.js', { type: 'module' });
  window.worker.onmessage = ({ data }) => window.events.push(Array.from(data));
  window.worker.postMessage(module);
});

// a number that is one of f32, whole or not
const real = value => ({ real: value });

// requests as CBOR, which tells whole numbers from others
function encoded(value) {
  const head = (kind, count) => {
    if (count < 24) return [kind << 5 | count];
    const bytes = [24, 16, 8, 0].map(shift => count >>> shift & 255);
    return [kind << 5 | 26, ...bytes];
  };
  if (value === null) return [0xf6];
  if (typeof value === 'boolean') return [value ? 0xf5 : 0xf4];
  if (typeof value === 'number') return head(0, value);
  if (typeof value === 'string') return [...head(3, Buffer.byteLength(value)), ...Buffer.from(value)];
  if (Array.isArray(value)) return [...head(4, value.length), ...value.flatMap(encoded)];
  if ('real' in value) {
    const bytes = Buffer.alloc(4);
    bytes.writeFloatBE(value.real);
    return [0xfa, ...bytes];
  }
  return [...head(5, Object.keys(value).length), ...Object.entries(value).flatMap(([key, one]) => [...encoded(key), ...encoded(one)])];
}

let number = 0;
async function asked(folder, source) {
  number += 1;
  const options = { beam: 5, max_length: null, ranking: { length: { Power: real(0) }, coverage: real(0) }, forbid_unk: false, allow_unk: false, candidates: 0, trace: false, most_numbers: 16000000 };
  const column = { column: models.indexOf(folder), folder, ensemble: null, device: 'Cpu', engine: 'Fused', options, interventions: { version: 1 }, source: null, decode: true, given: null };
  const bytes = encoded({ Decode: { number, source, columns: [column], near: null } });
  await page.evaluate(bytes => window.worker.postMessage({ bytes: Uint8Array.from(bytes) }), bytes);
  for (const end = Date.now() + 60000; Date.now() < end;) {
    const events = await page.evaluate(() => window.events.splice(0));
    for (const { Decoded } of events.map(bytes => decode(Uint8Array.from(bytes)))) {
      const failed = Decoded?.Failed ?? Decoded?.LoadFailed;
      if (failed) throw new Error(failed.message);
      if (Decoded?.Finished?.number === number) return Decoded.Finished.result;
    }
    await new Promise(done => setTimeout(done, 5));
  }
  throw new Error(`${folder} did not answer within a minute`);
}

const apart = (one, other) => Math.abs(one - other);
try {
  for (const folder of models) {
    const input = `${sentences.join('\n')}\n`;
    const lines = execFileSync(program, ['translate', '--model', join(site, folder), '--device', 'cpu', '--beam', '5', '--threads', '1', '--format', 'jsonl'], { input, encoding: 'utf8' });
    const desk = lines.trim().split('\n').map(line => JSON.parse(line).hypotheses[0]);
    let [furthest, words, millis, first] = [0, true, 0, 0];
    for (const [n, sentence] of sentences.entries()) {
      await asked(folder, sentence);
      const result = await asked(folder, sentence);
      const own = result.hypotheses[0];
      words &&= JSON.stringify(own.tokens) === JSON.stringify(desk[n].tokens);
      furthest = Math.max(furthest, apart(own.log_p, desk[n].log_p));
      (desk[n].alpha ?? []).forEach((row, i) => row.forEach((weight, j) => { furthest = Math.max(furthest, apart(weight, own.alpha[i][j])); }));
      [millis, first] = [result.millis, result.first_row_millis];
    }
    told(`${folder}: the numbers of the desk`, words && furthest < 1e-5, `furthest ${furthest.toExponential(1)}; ${sentences.at(-1).split(' ').length} words, beam 5: ${millis.toFixed(0)} ms, first row ${first.toFixed(0)} ms`);
  }
} catch (error) {
  told('the worker', false, error.message);
}
await closed();
