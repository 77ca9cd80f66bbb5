// Headless Chromium through chromedriver: the part of the WebDriver protocol that the tests need.
'use strict';

const {spawn} = require('child_process');
const {pathToFileURL} = require('url');

const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

class Browser {
  constructor(driver, port, session) { Object.assign(this, {driver, port, session}); }

  /// `flags`: of Chromium, which has no sandbox for root.
  static async start(flags = []) {
    const driver = spawn('chromedriver', ['--port=0'], {stdio: ['ignore', 'pipe', 'inherit']});
    const port = await new Promise((resolve, reject) => {
      driver.on('error', reject);
      driver.stdout.on('data', (data) => {
        const found = /successfully on port (\d+)/.exec(String(data));
        if (found) resolve(found[1]);
      });
    });
    const sandbox = process.getuid() === 0 ? ['--no-sandbox'] : [];
    const args = ['--headless=new', '--disable-gpu', '--disable-dev-shm-usage', ...sandbox, ...flags];
    const browser = new Browser(driver, port, null);
    const made = await browser.send('POST', '/session', {capabilities: {alwaysMatch: {'goog:chromeOptions': {args}}}});
    browser.session = made.sessionId;
    return browser;
  }

  async send(method, path, body) {
    const answer = await fetch(`http://127.0.0.1:${this.port}${path}`,
      {method, body: body === undefined ? undefined : JSON.stringify(body)});
    const {value} = await answer.json();
    if (!answer.ok) throw new Error(`${path}: ${value.message}`);
    return value;
  }

  command(method, path, body) { return this.send(method, `/session/${this.session}${path}`, body); }

  /// A command of the DevTools protocol.
  devtools(cmd, params = {}) { return this.command('POST', '/goog/cdp/execute', {cmd, params}); }

  /// Opens the page with a hash, anew even where only the hash differs.
  async open(hash = '') {
    await this.command('POST', '/url', {url: 'about:blank'});
    await this.command('POST', '/url', {url: pathToFileURL(process.env.DEPTHCOST_PAGE).href + hash});
    await this.until('return document.documentElement.dataset.asked !== undefined || document.getElementById("word").dataset.fate === "error"');
  }

  run(script, ...args) { return this.command('POST', '/execute/sync', {script, args}); }

  async until(script, ...args) {
    for (const end = Date.now() + 20000; Date.now() < end;) {
      if (await this.run(script, ...args)) return;
      await new Promise((resolve) => { setTimeout(resolve, 20); });
    }
    throw new Error(`never true: ${script}`);
  }

  text(selector) { return this.run('return document.querySelector(arguments[0]).textContent', selector); }

  async element(selector) {
    return (await this.command('POST', '/element', {using: 'css selector', value: selector}))[ELEMENT];
  }

  async click(selector) { await this.command('POST', `/element/${await this.element(selector)}/click`, {}); }

  /// Keys for whatever has the focus.
  async press(...keys) {
    const actions = keys.flatMap((value) => [{type: 'keyDown', value}, {type: 'keyUp', value}]);
    await this.command('POST', '/actions', {actions: [{type: 'key', id: 'keyboard', actions}]});
  }

  /// What is typed into a field, and the answer to it.
  async fill(name, value) {
    const before = await this.asked();
    await this.run(`const field = document.getElementById('question').elements.namedItem(arguments[0]);
      if (field instanceof RadioNodeList) for (const radio of field) { if (radio.value === arguments[1]) radio.click(); }
      else { field.value = arguments[1]; field.dispatchEvent(new Event('input', {bubbles: true})); }`, name, value);
    await this.until('return document.documentElement.dataset.asked !== arguments[0]', before);
  }

  asked() { return this.run('return document.documentElement.dataset.asked'); }

  /// Drops a file of the disk on the page, as a hand with a mouse does.
  async drop(file) {
    const data = {items: [], files: [file], dragOperationsMask: 1};
    for (const type of ['dragEnter', 'dragOver', 'dragOver', 'drop'])
      await this.devtools('Input.dispatchDragEvent', {type, x: 200, y: 200, data});
  }

  async resize(width, height, features = []) {
    await this.devtools('Emulation.setDeviceMetricsOverride', {width, height, deviceScaleFactor: 1, mobile: false});
    await this.devtools('Emulation.setEmulatedMedia', {features});
  }

  async screenshot() {
    const {contentSize} = await this.devtools('Page.getLayoutMetrics').then((m) => ({contentSize: m.cssContentSize}));
    const clip = {x: 0, y: 0, width: contentSize.width, height: contentSize.height, scale: 1};
    const {data} = await this.devtools('Page.captureScreenshot', {format: 'png', captureBeyondViewport: true, clip});
    return Buffer.from(data, 'base64');
  }

  async stop() {
    try { await this.command('DELETE', ''); } finally { this.driver.kill(); }
  }
}

module.exports = {Browser};
