// Opens the built site in headless Chromium, goes through what a class does, and takes pictures to be looked at.
// Run it where npm has put playwright-core (npm install playwright-core); the system has chromium:
//   node tests/web/look.mjs SITE PICTURES
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { closed, isOpen, opened, quiet, rest, told } from './site.mjs';

const [pictures] = rest;

const picture = (page, name) => page.screenshot({ path: join(pictures, `${name}.png`) });

try {
  for (const [width, height] of [[1280, 800], [360, 740], [1024, 768], [1920, 1080]]) {
    const { page, errors } = await opened({ width, height });
    await isOpen(page);
    const open = await page.evaluate(() => performance.getEntriesByName('open')[0].startTime);
    await quiet(page);
    const models = await page.evaluate(() => window.last);
    await picture(page, `open-${width}x${height}`);
    told(`opens at ${width} by ${height}`, errors.length === 0, `page ${open.toFixed(0)} ms, models ${models.toFixed(0)} ms ${errors.join('; ')}`);
    if (width === 1280) await walk(page, errors);
    await page.close();
  }
} catch (error) {
  told('the walk', false, error.message);
} finally {
  await closed();
}

async function walk(page, errors) {
  const before = await page.evaluate(() => window.messages);
  await page.keyboard.press('Control+A');
  await page.keyboard.type('The old man reads a book in the garden.', { delay: 30 });
  await quiet(page);
  const after = await page.evaluate(() => window.messages);
  await picture(page, 'typed');
  told('typing is translated', after > before && errors.length === 0, `${after - before} messages ${errors.join('; ')}`);
  // what is saved goes to the browser's downloads
  await page.keyboard.press('Control+s');
  await page.waitForTimeout(2000);
  const saved = page.waitForEvent('download', { timeout: 60000 });
  await page.keyboard.type('looked.svg');
  await page.keyboard.press('Enter');
  const download = await saved;
  const svg = await readFile(await download.path(), 'utf8');
  told('a figure is saved', download.suggestedFilename() === 'looked.svg' && svg.includes('<svg') && svg.includes('jardin'), `${svg.length} letters`);

  // a third model by its name, and one that the site does not have
  for (const [name, folder] of [['third', 'models/luong-local-p-en-fr'], ['missing', 'models/nobody']]) {
    await page.keyboard.press('Control+Shift+O');
    await page.waitForTimeout(1500);
    await page.keyboard.type(folder);
    await page.keyboard.press('Enter');
    await page.waitForTimeout(500);
    await quiet(page);
    await picture(page, name);
    told(`a model is added: ${folder}`, errors.length === 0, errors.join('; '));
  }
  // the map of words by principal components takes a moment
  await page.keyboard.press('Control+3');
  await page.waitForTimeout(500);
  await page.mouse.click(720, 70);
  await quiet(page);
  await picture(page, 'mapped');

  for (const [digit, name] of [['3', 'map'], ['5', 'steps'], ['1', 'sentence']]) {
    await page.keyboard.press(`Control+${digit}`);
    await page.waitForTimeout(3000);
    await picture(page, name);
    told(`page ${name}`, errors.length === 0, errors.join('; '));
  }
  // a worker that dies is replaced
  await page.evaluate(() => { window.worker.dispatchEvent(new ErrorEvent('error')); window.worker.terminate(); });
  const lost = await page.evaluate(() => window.messages);
  await page.waitForFunction(lost => window.messages > lost, lost, { timeout: 120000 });
  await quiet(page);
  await picture(page, 'after-loss');
  told('a lost worker is replaced', errors.length === 0, errors.join('; '));
}
