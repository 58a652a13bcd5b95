// Opens the built site in Firefox, types a sentence, waits until its translation is told, takes a picture and asks for errors.
// Wants puppeteer-core from npm where it is run; firefox-esr, xvfb and libgl1-mesa-dri from the system, for Firefox without a
// screen has no WebGL:
//   xvfb-run -s '-screen 0 1400x1000x24' node tests/web/firefox.mjs SITE PICTURES
import { join } from 'node:path';
import { address, rest, server, wanted } from './served.mjs';

const puppeteer = wanted('puppeteer-core');
const [pictures] = rest;
const browser = await puppeteer.launch({
  browser: 'firefox',
  executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr',
  headless: false,
  extraPrefsFirefox: { 'webgl.force-enabled': true, 'webgl.forbid-software': false },
});
const errors = [];
try {
  const page = await browser.newPage();
  await page.setViewport({ width: 1280, height: 800 });
  page.on('console', line => { if (line.type() === 'error') errors.push(line.text()); });
  page.on('pageerror', error => errors.push(error.message));
  await page.goto(address);
  const open = () => performance.getEntriesByName('open').length > 0;
  await page.waitForFunction(open, { timeout: 120000, polling: 200 });
  const opened = await page.evaluate(() => performance.getEntriesByName('open')[0].startTime);
  const told = text => page.waitForFunction(text => document.body.textContent.includes(text), { timeout: 120000, polling: 200 }, text);
  await page.keyboard.down('Control');
  await page.keyboard.press('a');
  await page.keyboard.up('Control');
  await page.keyboard.type('The red house is small.', { delay: 40 });
  await new Promise(done => setTimeout(done, 12000));
  await page.screenshot({ path: join(pictures, 'firefox.png') });
  await told('maison').then(() => console.log('passed  the translation is told to a screen reader'), () => console.log('not told within two minutes'));
  console.log(`${errors.length ? 'FAILED' : 'passed'}  Firefox ${await browser.version()}: page after ${opened.toFixed(0)} ms; errors: ${errors.join('; ') || 'none'}`);
  process.exitCode = errors.length ? 1 : 0;
} finally {
  await browser.close();
  server.close();
}
