// How much memory the page takes with no model, one and three, in headless Chromium on Linux: what the process of the page and
// its worker holds (of what it shares, its share), and beside it that of the graphics, which are software there. Wants
// playwright-core where it is run:
//   node tests/web/memory.mjs SITE
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { browser, closed, isOpen, opened, quiet, site, told } from './site.mjs';

const goal = 400;
const source = 'The old man who lives in the small house near the river reads a long book in the garden every morning.';
const models = Object.keys(JSON.parse(readFileSync(join(site, 'models.json')))).map(folder => folder.split('/').pop());
const command = await browser.newBrowserCDPSession();

// megabytes of each process of a kind, the greatest first
async function held(kind) {
  const { processInfo } = await command.send('SystemInfo.getProcessInfo');
  const of = ({ id }) => Number(readFileSync(`/proc/${id}/smaps_rollup`, 'utf8').match(/^Pss: +(\d+) kB/m)[1]) * 1024 / 1e6;
  return processInfo.filter(({ type }) => type === kind).map(of).sort((one, other) => other - one);
}

try {
  for (const columns of [[], models.slice(0, 1), models]) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, serviceWorkers: 'block' });
    if (!columns.length) await context.route('**/models/**', route => route.abort());
    const link = `#v1.${deflateSync(JSON.stringify({ source, columns })).toString('base64url')}`;
    const { page } = await opened({}, context, columns.length ? link : '');
    await isOpen(page);
    if (columns.length) await quiet(page);
    // what was fetched is let go by and by
    const [atOnce] = await held('renderer');
    await page.waitForTimeout(10000);
    const [[own], [graphics]] = [await held('renderer'), await held('GPU')];
    told(`${columns.length} models`, own < goal, `page and worker ${own.toFixed(0)} MB (${atOnce.toFixed(0)} MB ten seconds before), graphics ${graphics.toFixed(0)} MB`);
    await context.close();
  }
} catch (error) {
  told('memory', false, error.message);
}
await closed();
