// The built site, served, for the tests beside this file.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname, join, normalize } from 'node:path';

// npm's packages lie where the test was begun
export const wanted = createRequire(join(process.cwd(), 'x.js'));
export const [site, ...rest] = process.argv.slice(2);
const kinds = { '.html': 'text/html', '.js': 'text/javascript', '.json': 'application/json', '.wasm': 'application/wasm', '.png': 'image/png', '.webmanifest': 'application/manifest+json' };
export const server = createServer(async (asked, answer) => {
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
