// Keeps the explorer in the browser, so that it opens without a network once it was there, and each language once it was
// spoken. Models are kept by worker.js, each
// when it is fetched. Browsers run this over https and on localhost alone.
const kept = 'interlinear-@VERSION@';
const shell = ['./', 'interlinear.js', 'interlinear_bg.wasm', 'worker.js', 'models.json', 'icon.png', 'interlinear.webmanifest'];

self.addEventListener('install', event => event.waitUntil((async () => {
  const cache = await caches.open(kept);
  await cache.addAll(shell.map(path => new Request(path, { cache: 'no-cache' })));
})()));

self.addEventListener('activate', event => event.waitUntil((async () => {
  const old = (await caches.keys()).filter(name => name.startsWith('interlinear-') && name !== kept && name !== 'interlinear-models');
  await Promise.all(old.map(name => caches.delete(name)));
  await self.clients.claim();
})()));

self.addEventListener('fetch', event => {
  const { method, url } = event.request;
  const scope = self.registration.scope;
  if (method !== 'GET' || !url.startsWith(scope) || url.startsWith(`${scope}models/`)) return;
  event.respondWith((async () => {
    const cache = await caches.open(kept);
    const path = url.split(/[?#]/)[0] === `${scope}index.html` ? scope : url;
    // which models there are may change without the program
    if (url === `${scope}models.json`) return fetch(event.request).catch(() => cache.match(path));
    const there = await cache.match(path, { ignoreSearch: true });
    if (there || !url.startsWith(`${scope}lang/`)) return there ?? fetch(event.request);
    const answer = await fetch(event.request);
    if (answer.ok) await cache.put(path, answer.clone());
    return answer;
  })());
});
