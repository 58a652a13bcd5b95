// The worker of the page: computes in turns, and fetches the models that are missing.
import init, { PageWorker } from './interlinear.js';

let bench;
const early = [];
// the files of models of a person's own, by their folders
const given = {};
const sizes = fetch('models.json').then(answer => answer.json());
const turns = new MessageChannel();
let isAsked = false;

// The page puts an empty file where it can be seen, and takes it away when it wants something else: the one thing that can be
// asked in the middle of a turn, for no message is heard then. A look takes a millisecond or two.
const betweenLooks = 30;
let sign, canLook = false, isGone = false, looked = 0;

function isThere(address) {
  const look = new XMLHttpRequest();
  look.open('GET', address, false);
  try {
    look.send();
    return true;
  } catch {
    return false;
  }
}

self.isReplaced = () => {
  const now = performance.now();
  if (sign && now - looked > betweenLooks) {
    looked = now;
    isGone = !isThere(sign);
    // looked for again where a message brings the next one, so no browser begins its work anew for ever
    if (isGone) sign = undefined;
  }
  return isGone;
};

// a turn is asked for by a message, so that what the page says meanwhile is heard first
function ask() {
  if (isAsked) return;
  isAsked = true;
  turns.port2.postMessage(0);
}

turns.port1.onmessage = () => {
  isAsked = false;
  isGone = false;
  looked = performance.now();
  try {
    if (bench.turn()) ask();
  } catch (error) {
    if (!isGone) throw error;
    // Work that was told to make way knew no other way out of a library than to fail, and everything here with it.
    self.postMessage('left');
    self.close();
  }
};

function heard({ bytes, sign: next }) {
  if (next) {
    canLook ||= isThere(next);
    sign = canLook ? next : undefined;
  }
  bench.received(bytes);
  for (const folder of bench.missing()) fetched(folder);
  ask();
}

self.onmessage = async ({ data }) => {
  if (data.files) {
    given[data.folder] = data.files;
    return;
  }
  if (!(data instanceof WebAssembly.Module)) return bench ? heard(data) : early.push(data);
  await init({ module_or_path: data });
  bench = new PageWorker();
  early.splice(0).forEach(heard);
};

// An answer from the network, or what was kept of it; and where it is to be kept. Over plain http nothing is.
async function answered(address) {
  const kept = self.caches && await caches.open('interlinear-models');
  const old = await kept?.match(address);
  try {
    const answer = await fetch(address, { cache: 'no-cache' }).catch(() => {
      throw new Error(`${address} did not come. Check the connection, then load the page anew.`);
    });
    if (!answer.ok) throw new Error(`${address}: the server answered ${answer.status}; load the page anew.`);
    const tag = answer.headers.get('etag') ?? answer.headers.get('last-modified');
    return { answer, tag, kept: tag && tag === old?.headers.get('x-tag') ? undefined : kept };
  } catch (error) {
    if (old) return { answer: old };
    throw error;
  }
}

// A packed file is unpacked here, unless the server has told the browser to.
async function unpacked(name, bytes) {
  if (!name.endsWith('.gz')) return [name, bytes];
  const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const stream = isPacked && new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return [name.slice(0, -3), stream ? new Uint8Array(await new Response(stream).arrayBuffer()) : bytes];
}

async function fetched(folder) {
  if (given[folder]) {
    for (const [name, bytes] of Object.entries(given[folder])) bench.file(folder, name, bytes);
    bench.whole(folder);
    return ask();
  }
  try {
    const files = (await sizes)[folder];
    if (!files) throw new Error(`${folder} is not among the models of this site.`);
    const total = Object.values(files).reduce((sum, size) => sum + size, 0);
    let read = 0;
    await Promise.all(Object.keys(files).map(async name => {
      const address = `${folder}/${name}`;
      const { answer, tag, kept } = await answered(address);
      const pieces = [];
      for (const reader = answer.body.getReader(); ;) {
        const { done, value } = await reader.read();
        if (done) break;
        pieces.push(value);
        read += value.length;
        bench.read(folder, Math.min(read / total, 1));
      }
      const whole = new Uint8Array(await new Blob(pieces).arrayBuffer());
      // a browser that has no room fetches it again the next time
      kept?.put(address, new Response(whole, { headers: { 'x-tag': tag ?? '' } })).catch(() => {});
      bench.file(folder, ...await unpacked(name, whole));
    }));
    bench.whole(folder);
  } catch (error) {
    bench.failed(folder, error.message);
  }
  ask();
}
