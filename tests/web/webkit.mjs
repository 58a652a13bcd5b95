// Opens the built site in WebKit, the engine of Safari, by the MiniBrowser of WebKitGTK: types a sentence, waits until its translation is
// told, takes a picture. Wants webkit2gtk-driver, xvfb and libgl1-mesa-dri from the system:
//   xvfb-run -s '-screen 0 1400x1000x24' node tests/web/webkit.mjs SITE PICTURES
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { address, rest, server } from './served.mjs';

const [pictures] = rest;
const browsers = readdirSync('/usr/lib').map(machine => `/usr/lib/${machine}/webkit2gtk-4.1/MiniBrowser`);
const binary = process.env.WEBKIT ?? browsers.find(path => existsSync(path));
const port = 4712;
const driver = spawn('WebKitWebDriver', [`--port=${port}`], { stdio: 'inherit' });
const pause = millis => new Promise(done => setTimeout(done, millis));

async function ask(path, body, method = body ? 'POST' : 'GET') {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, body: body && JSON.stringify(body) });
  const { value } = await answer.json();
  if (value?.error) throw new Error(`${path}: ${value.error}: ${value.message}`);
  return value;
}

async function until(wanted, seconds) {
  for (let waited = 0; waited < seconds * 5; waited += 1) {
    if (await wanted()) return true;
    await pause(200);
  }
  return false;
}

let session;
try {
  await until(() => ask('/status').then(() => true, () => false), 20);
  const options = { binary, args: ['--automation'] };
  const made = await ask('/session', { capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': options } } });
  session = `/session/${made.sessionId}`;
  const run = script => ask(`${session}/execute/sync`, { script, args: [] });
  await ask(`${session}/window/rect`, { x: 0, y: 0, width: 1280, height: 900 });
  await ask(`${session}/url`, { url: address });
  const isOpen = await until(() => run("return performance.getEntriesByName('open').length > 0"), 120);
  const opened = isOpen && await run("return performance.getEntriesByName('open')[0].startTime");
  const picture = async name => writeFileSync(join(pictures, name), Buffer.from(await ask(`${session}/screenshot`), 'base64'));
  const press = (value, type) => ({ type, value });
  const keys = text => [...text].flatMap(key => [press(key, 'keyDown'), press(key, 'keyUp'), { type: 'pause', duration: 40 }]);
  const control = '\uE009';
  const all = [press(control, 'keyDown'), press('a', 'keyDown'), press('a', 'keyUp'), press(control, 'keyUp')];
  if (isOpen) {
    await ask(`${session}/actions`, { actions: [{ type: 'key', id: 'keys', actions: [...all, ...keys('The red house is small.')] }] });
  }
  const isTold = isOpen && await until(() => run("return document.body.textContent.includes('maison')"), 120);
  await picture('webkit.png');
  const { browserName, browserVersion } = made.capabilities;
  console.log(`${isOpen ? 'passed' : 'FAILED'}  ${browserName} ${browserVersion}: page ${isOpen ? `after ${opened.toFixed(0)} ms` : 'never opened'}`);
  console.log(`${isTold ? 'passed' : 'FAILED'}  the translation is told to a screen reader`);
  process.exitCode = isOpen && isTold ? 0 : 1;
} finally {
  if (session) await ask(session, undefined, 'DELETE').catch(() => {});
  driver.kill();
  server.close();
}
