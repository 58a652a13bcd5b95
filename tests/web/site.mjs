// Headless Chromium on the built site, for the tests beside this file.
import { address, server, wanted } from './served.mjs';

export { address, rest, site, wanted } from './served.mjs';
const { chromium } = wanted('playwright-core');

export const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless', '--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--disable-quic',
    '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
});

// A page whose worker's messages are counted and kept, so that a test knows when something is done and what came of it, and
// whose clipboard is a variable.
export async function opened(size, context = browser, link = '') {
  const page = await (context.newPage ? context.newPage({ viewport: size }) : context);
  const errors = [];
  page.on('console', line => { if (line.type() === 'error') errors.push(line.text()); });
  page.on('pageerror', error => errors.push(error.message));
  await page.addInitScript(() => {
    window.messages = 0;
    [window.finished, window.apart] = [0, 0];
    // a message begins with what it tells
    const tells = (bytes, name) => new TextDecoder('latin1').decode(bytes.subarray(0, 40)).includes(name) ? 1 : 0;
    window.last = 0;
    window.kept = [];
    const Own = window.Worker;
    window.Worker = class extends Own {
      constructor(...all) {
        super(...all);
        window.worker = this;
        this.addEventListener('message', ({ data }) => {
          // a worker that leaves says so in a word
          if (typeof data === 'string') return;
          window.messages += 1;
          window.finished += tells(data, 'Finished');
          window.apart += tells(data, 'Steps');
          window.last = performance.now();
          window.kept.push(Array.from(data));
        });
      }
    };
    navigator.clipboard.writeText = async text => { window.copied = text; };
  });
  await page.goto(`${address}${link}`);
  return { page, errors };
}
export const isOpen = page => page.waitForFunction(() => performance.getEntriesByName('open').length > 0, null, { timeout: 120000 });
// once something is translated and nothing more comes
export const quiet = page => page.waitForFunction(() => window.finished > 0 && performance.now() - window.last > 1500, null, { timeout: 120000 });

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
