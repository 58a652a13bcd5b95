// Uses the built site in headless Chromium as people do: copies and opens links, walks through lessons, forces a word, brings
// files of its own, meets a damaged model, and works without a network. Wants playwright-core and cbor-x where it is run:
//   node tests/web/use.mjs SITE PICTURES
import { deflateSync, inflateSync } from 'node:zlib';
import { join } from 'node:path';
import { address, browser, closed, isOpen, opened, quiet, rest, told, wanted } from './site.mjs';

const { decode } = wanted('cbor-x');
const [pictures] = rest;
const size = { width: 1280, height: 800 };
const picture = (page, name) => page.screenshot({ path: join(pictures, `${name}.png`) });

const lessons = ['alignment', 'bottleneck', 'explanation', 'verb-last', 'soft-hard', 'global-local', 'bahdanau-luong', 'beam-greedy', 'learning',
  'copies', 'attention-fails', 'unknown-words', 'annotation', 'query-key-value', 'transformer'];

const linkTo = state => `#v1.${deflateSync(JSON.stringify(state)).toString('base64url')}`;
const shownBy = link => JSON.parse(inflateSync(Buffer.from(link.split('#v1.')[1], 'base64url')));
// what the worker told since the last call
const news = async page => (await page.evaluate(() => window.kept.splice(0))).map(bytes => decode(Uint8Array.from(bytes)));
const finished = all => all.map(one => one.Decoded?.Finished?.result).filter(Boolean);

async function copied(page) {
  await page.evaluate(() => { window.copied = undefined; });
  await page.keyboard.press('Control+Shift+L');
  await page.waitForFunction(() => window.copied !== undefined, null, { timeout: 10000 });
  return page.evaluate(() => window.copied);
}

async function at(link, context) {
  const { page, errors } = await opened(size, context, link);
  await isOpen(page);
  await quiet(page);
  return { page, errors };
}

// files on the page, as if they had been let fall on it
const drop = (page, files) => page.evaluate(async files => {
  const data = new DataTransfer();
  for (const [name, source] of Object.entries(files)) {
    const stream = async () => (await fetch(source.address)).body;
    const unpacked = async () => source.address.endsWith('.gz') ? (await stream()).pipeThrough(new DecompressionStream('gzip')) : stream();
    const bytes = source.text ?? await new Response(await unpacked()).arrayBuffer();
    data.items.add(new File([bytes], name));
  }
  document.getElementById('explorer').dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true }));
}, files);

const steps = {
  async 'a link is copied and shows the same'() {
    const { page } = await at('');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('The old man reads a book.', { delay: 20 });
    await page.keyboard.press('Control+]');
    await quiet(page);
    const link = await copied(page);
    await page.close();
    const other = await at(link.slice(address.length));
    const again = await copied(other.page);
    await picture(other.page, 'link');
    await other.page.close();
    const { source, beam } = shownBy(link);
    return [link.startsWith(`${address}#v1.`) && link === again && source === 'The old man reads a book.' && beam === 6, `${link.length} letters`];
  },

  async 'links that are damaged or newer are told and change nothing'() {
    const first = await at('');
    const before = shownBy(await copied(first.page));
    await first.page.close();
    for (const bad of ['#v1.eJx', '#v7.abc']) {
      const { page, errors } = await at(bad);
      await picture(page, `bad-${bad.slice(1, 3)}`);
      const after = shownBy(await copied(page));
      await page.close();
      if (errors.length || JSON.stringify(after) !== JSON.stringify(before)) return [false, errors.join('; ')];
    }
    return [true];
  },

  async 'a word is forced'() {
    const columns = ['rnnsearch-en-fr'];
    const set = { folders: columns, set: { version: 1, force: [{ position: 1, word: { text: 'une' } }] } };
    const { page, errors } = await at(linkTo({ source: 'the red house', columns, interventions: [set] }));
    const [result] = finished(await news(page)).slice(-1);
    await picture(page, 'forced');
    await page.close();
    return [errors.length === 0 && result?.hypotheses[0].tokens[0] === 'une', result?.hypotheses[0].tokens.join(' ')];
  },

  async 'each lesson is done to its end'() {
    const said = [];
    for (const lesson of lessons) {
      const { page, errors } = await at(linkTo({ lesson }));
      const button = name => page.locator(`#mirror [role=button][aria-label="${name}"]`);
      const has = async name => await button(name).count() > 0;
      const place = async () => await page.locator('#mirror [aria-label^="Page "][aria-label*=" of "]').first().getAttribute('aria-label');
      let [turns, last] = [0, ''];
      for (; turns < 80 && !await has('Next lesson') && !await page.locator('#mirror [aria-label="The lesson is at its end"]').count(); turns += 1) {
        const next = await has('Pass over') ? 'Pass over' : 'Next page';
        await button(next).first().dispatchEvent('click', {}, { timeout: 10000 }).catch(() => {});
        await page.waitForTimeout(500);
        await quiet(page);
        last = await place().catch(() => last);
      }
      const isMissing = await page.locator('#mirror [aria-label*="not among the installed"]').count();
      const [, at_, of] = /(\d+) of (\d+)/.exec(last) ?? [];
      said.push(`${lesson}: ${last}`);
      await picture(page, `lesson-${lesson}`);
      await page.close();
      if (errors.length || isMissing || !of || at_ !== of) return [false, [...said, ...errors].join('; ')];
    }
    return [true, said.join(', ')];
  },

  async 'nothing typed is lost by a reload'() {
    const context = await browser.newContext({ viewport: size });
    const { page, errors } = await at('', context);
    await page.keyboard.press('Control+A');
    await page.keyboard.type('The old man reads a book.', { delay: 20 });
    await quiet(page);
    await page.waitForTimeout(1500);
    await page.reload();
    await isOpen(page);
    await quiet(page);
    const { source } = shownBy(await copied(page));
    const link = await page.evaluate(() => location.hash);
    await context.close();
    return [errors.length === 0 && source === 'The old man reads a book.' && shownBy(`x${link}`).source === source, source];
  },

  async 'a screen reader finds what is on the screen'() {
    const { page, errors } = await at('');
    await page.waitForTimeout(1000);
    const session = await page.context().newCDPSession(page);
    const { nodes } = await session.send('Accessibility.getFullAXTree');
    const all = nodes.filter(node => !node.ignored).map(node => `${node.role?.value}: ${node.name?.value ?? ''}`);
    const nameless = nodes.filter(node => !node.ignored && ['button', 'textbox', 'combobox', 'checkbox', 'tab', 'spinbutton', 'slider'].includes(node.role?.value) && !node.name?.value);
    const wanted = [/^textbox: Source text/, /^spinbutton: Beam/, /^tab: RNNsearch/, /^button: .* probability /, /^cell: .* <- /, /^table: Alignment of /, /Beam of /];
    const missing = wanted.filter(one => !all.some(line => one.test(line)));
    // a click, as a screen reader sends it
    await page.locator('#mirror [role=button][aria-label="Lessons"]').first().dispatchEvent('click');
    await page.waitForTimeout(1000);
    const isOpened = await page.locator('#mirror [role=button][aria-label^="1. "]').count() > 0;
    await page.close();
    return [errors.length === 0 && missing.length === 0 && nameless.length === 0 && isOpened,
      `${all.length} nodes, ${nameless.length} without a name, missing ${missing.join(' ')}${isOpened ? '' : ', the click did nothing'}`];
  },

  async 'a link leads to the step and the box of page Steps'() {
    const state = { source: 'the red house', columns: ['rnnencdec-en-fr', 'rnnsearch-en-fr'], page: 'steps', selected: 1,
      pages: { steps: { depth: 'step', i: 1, open: 'alpha', beam: true } } };
    const { page, errors } = await at(linkTo(state));
    await page.waitForFunction(() => window.apart > 0, null, { timeout: 60000 });
    await quiet(page);
    await picture(page, 'linked-steps');
    const again = shownBy(await copied(page));
    const apart = (await news(page)).map(one => one.Steps?.[0].found.Ok).filter(Boolean);
    // from there on by hand, and as another link
    await page.keyboard.press('ArrowRight');
    await page.waitForTimeout(500);
    const next = shownBy(await copied(page)).pages.steps;
    await page.close();
    const isSame = again.selected === 1 && Object.entries(state.pages.steps).every(([key, value]) => again.pages.steps[key] === value);
    return [errors.length === 0 && isSame && apart.length === 1 && next.i === 2, `${apart.length} taken apart, ${JSON.stringify(again.pages)}, then ${next.i}`];
  },

  async 'a link leads to the map and its point'() {
    const maps = { choice: 'annotations', method: 'pca', search: 'house', point: ['house', 3] };
    const state = { source: 'the red house', columns: ['rnnsearch-en-fr'], page: 'map', pages: { maps: { ...maps, is_made: true } } };
    const { page, errors } = await at(linkTo(state));
    await page.waitForTimeout(1500);
    await quiet(page);
    await picture(page, 'linked-map');
    const made = (await news(page)).map(one => one.Queue?.kind.Found).filter(Boolean);
    const again = shownBy(await copied(page));
    await page.close();
    return [errors.length === 0 && made.length === 1 && JSON.stringify(again.pages.maps.point) === '["house",3]', JSON.stringify(again.pages)];
  },

  async 'a newer sentence does not wait for the column'() {
    const long = 'The old man who lives in the small house near the river reads a long book in the garden every morning '.repeat(6).trim();
    const columns = ['rnnsearch-en-fr', 'rnnencdec-en-fr', 'luong-local-p-en-fr'];
    const { page, errors } = await at(linkTo({ source: 'a', columns, beam: 12 }));
    await news(page);
    // when each request began and ended
    await page.evaluate(() => { window.times = []; window.worker.addEventListener('message', ({ data }) => window.times.push([performance.now(), Array.from(data)])); });
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText(long);
    await page.waitForFunction(() => window.times.length > 0, null, { timeout: 30000 });
    await page.waitForTimeout(100);
    const asked = await page.evaluate(() => performance.now());
    await page.keyboard.press('Control+A');
    await page.keyboard.insertText('the red house');
    await quiet(page);
    const told = (await page.evaluate(() => window.times)).map(([when, bytes]) => [when, decode(Uint8Array.from(bytes)).Decoded]);
    const numbers = told.map(([, one]) => one?.Started?.number).filter(Boolean);
    const last = Math.max(...numbers);
    const waited = told.find(([, one]) => one?.Started?.number === last)[0] - asked;
    const before = told.filter(([, one]) => one?.Finished && one.Finished.number < last).length;
    const after = told.filter(([, one]) => one?.Finished?.number === last).length;
    await page.close();
    return [errors.length === 0 && after === columns.length && before === 0 && waited < 3000, `${waited.toFixed(0)} ms to the first sign of it; ${before} of the old columns were done`];
  },

  async 'letters of other scripts are drawn by the browser'() {
    const { page, errors } = await at(linkTo({ source: '\u05e9\u05dc\u05d5\u05dd \u4e16\u754c \u0645\u0631\u062d\u0628\u0627 \u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35' }));
    await picture(page, 'scripts');
    await page.close();
    return [errors.length === 0];
  },

  async 'a text of my own is opened'() {
    const { page, errors } = await at('');
    await drop(page, { 'mine.txt': { text: 'A small dog sleeps.\nIt rains today.\n' } });
    await page.waitForTimeout(1000);
    await quiet(page);
    const { source } = shownBy(await copied(page));
    await picture(page, 'own-text');
    await page.close();
    return [errors.length === 0 && source === 'A small dog sleeps.', source];
  },

  async 'a model of my own is opened'() {
    const { page, errors } = await at('');
    await news(page);
    const names = ['config.json', 'model.safetensors', 'source.tokenizer.json', 'target.tokenizer.json'];
    const place = name => `models/rnnencdec-en-fr/${name}${name === 'config.json' ? '' : '.gz'}`;
    await drop(page, Object.fromEntries(names.map(name => [name, { address: place(name) }])));
    await page.waitForTimeout(3000);
    await quiet(page);
    const results = finished(await news(page));
    const { columns = [] } = shownBy(await copied(page));
    await picture(page, 'own-model');
    await page.close();
    return [errors.length === 0 && results.length > 0 && columns.length === 2, JSON.stringify(columns)];
  },

  async 'a damaged model is told, and the others work'() {
    const context = await browser.newContext({ viewport: size, serviceWorkers: 'block' });
    await context.route('**/rnnencdec-en-fr/model.safetensors.gz', route => route.fulfill({ body: Buffer.alloc(4096, 7) }));
    const { page, errors } = await at(linkTo({ source: 'the red house', columns: ['rnnencdec-en-fr', 'rnnsearch-en-fr'] }), context);
    const all = await news(page);
    const failed = all.map(one => one.Decoded?.LoadFailed?.message).filter(Boolean);
    await picture(page, 'damaged');
    await context.close();
    return [errors.length === 0 && failed.length > 0 && finished(all).length > 0, failed[0]];
  },

  async 'a worker that is lost in the middle of a page of Steps is replaced'() {
    const { page, errors } = await at(linkTo({ source: 'the red house', columns: ['rnnsearch-en-fr'], page: 'steps' }));
    await news(page);
    await page.evaluate(() => { window.finished = 0; window.worker.dispatchEvent(new ErrorEvent('error')); window.worker.terminate(); });
    await quiet(page);
    const again = finished(await news(page)).length;
    await picture(page, 'steps-after-loss');
    await page.close();
    return [errors.length === 0 && again > 0];
  },

  async 'it works without a network once it was there'() {
    const context = await browser.newContext({ viewport: size });
    const { page, errors } = await at('', context);
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.waitForFunction(async () => (await (await caches.open('interlinear-models')).keys()).length >= 4, null, { timeout: 60000 });
    await context.setOffline(true);
    await page.reload();
    await isOpen(page);
    await quiet(page);
    const results = finished(await news(page));
    await picture(page, 'offline');
    await context.close();
    const own = errors.filter(error => !error.includes('ERR_INTERNET_DISCONNECTED') && !error.includes('Failed to load resource'));
    return [results.length > 0 && own.length === 0, own.join('; ')];
  },
};

for (const [name, step] of Object.entries(steps)) {
  try {
    told(name, ...await step());
  } catch (error) {
    told(name, false, error.message);
  }
}
await closed();
