// The built site, served, and headless Chromium, for the tests beside this file.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname, join, normalize } from 'node:path';

// npm's packages lie where the test was begun
export const wanted = createRequire(join(process.cwd(), 'x.js'));
const { chromium } = wanted('playwright-core');
export const [site, ...rest] = process.argv.slice(2);
const kinds = { '.html': 'text/html', '.js': 'text/javascript', '.json': 'application/json', '.wasm': 'application/wasm', '.png': 'image/png' };
const server = createServer(async (asked, answer) => {
  const named = normalize(decodeURIComponent(new URL(asked.url, 'http://x').pathname));
  const path = named.endsWith('/') ? `${named}index.html` : named;
  try {
    const body = await readFile(join(site, path));
    answer.writeHead(200, { 'Content-Type': kinds[extname(path)] ?? 'application/octet-stream', 'Content-Length': body.length });
    answer.end(body);
  } catch {
    answer.writeHead(404).end();
  }
});
await new Promise(done => server.listen(0, '127.0.0.1', done));
export const address = `http://127.0.0.1:${server.address().port}/`;

export const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-quic',
    '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

let failed = 0;

export function told(name, isRight, detail = '') {
  if (!isRight) failed += 1;
  console.log(`${isRight ? 'passed' : 'FAILED'}  ${name} ${detail}`);
}

export async function closed() {
  await browser.close();
  server.close();
  process.exitCode = failed ? 1 : 0;
}
