// The page in headless Chromium, from a file, with the network switched off.
'use strict';

const assert = require('assert');
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');
const {test, before, after} = require('node:test');
const {root, folderForTests, program} = require('./program.js');
const {Browser} = require('./chromium.js');

const MOST_COMPRESSED_BYTES = 3000000;
const MOST_MILLISECONDS = 100;
const folder = folderForTests();
let browser;

before(async () => {
  browser = await Browser.start();
  await browser.devtools('Network.enable');
  await browser.devtools('Network.emulateNetworkConditions', {offline: true, latency: 0, downloadThroughput: 0, uploadThroughput: 0});
  await browser.devtools('Browser.setDownloadBehavior', {behavior: 'allow', downloadPath: folder});
});
after(() => browser && browser.stop());

const word = () => browser.text('#word');
const message = () => browser.run('const m = document.getElementById("message"); return m.hidden ? "" : m.textContent');
const scenario = () => browser.run('return page.text');

/// The lines that the program prints above its table.
function verdictOf(text) {
  fs.writeFileSync(path.join(folder, 'asked.yaml'), text);
  const native = program(['evaluate', 'asked.yaml'], folder);
  assert.strictEqual(native.code, 0, native.err);
  return native.out;
}

async function downloaded(button, name) {
  const file = path.join(folder, name);
  fs.rmSync(file, {force: true});
  await browser.click(button);
  for (let i = 0; i < 200 && !fs.existsSync(file); ++i) await new Promise((resolve) => { setTimeout(resolve, 50); });
  return fs.readFileSync(file, 'utf8');
}

test('the page is one file of at most 3 MB compressed', async () => {
  const bytes = zlib.gzipSync(fs.readFileSync(process.env.DEPTHCOST_PAGE)).length;
  console.log(`compressed: ${bytes} bytes`);
  assert.ok(bytes <= MOST_COMPRESSED_BYTES, `${bytes} bytes`);
  await browser.open();
  assert.deepStrictEqual(await browser.run('return performance.getEntriesByType("resource").filter((r) => !/^(data|blob):/.test(r.name)).map((r) => r.name)'), []);
});

test('the verdict is that of the program', async () => {
  await browser.open();
  for (const [name, value] of [['model', 'llama_3_1_70b'], ['gpu', 'h100_sxm'], ['block_size', '16'], ['batch', '1, 64'], ['scheme', 'mhc']]) {
    await browser.fill(name, value);
    const native = verdictOf(await scenario());
    const reason = await browser.run('return page.answer.verdicts.find((v) => v.is_own).line');
    assert.ok(native.includes(`\n${reason}\n`), reason);
    assert.strictEqual((await browser.text('#reason')).replace(/\u00a0/g, ' '), reason.replace(/`/g, ''));
    assert.ok(reason.replace(/`/g, '').includes(`: ${await word()}`), await word());
    for (const cost of await browser.run('return page.answer.costs'))
      assert.ok(native.includes(cost.time) && native.includes(cost.share), JSON.stringify(cost));
  }
});

test('an answer takes at most 100 ms', async () => {
  await browser.open();
  // Other block sizes come after the answer. Time of the page's thread: others may use the machine.
  await browser.run('page.engine.blockSizes = () => ({})');
  await browser.devtools('Performance.enable', {timeDomain: 'threadTicks'});
  const used = async () => (await browser.devtools('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration').value;
  const times = [];
  const walls = [];
  for (const [name, value] of [['batch', '64'], ['context', '100000'], ['tensor', '16'], ['gpu', 'h200_sxm'],
    ['model', 'deepseek_v3'], ['scheme', 'mhc'], ['scheme', 'full_attnres'], ['model', 'kimi_k3'], ['batch', '1, 64, 512'],
    ['schedule', 'two_phase'], ['gpu', 'mi300x'], ['model', 'kimi_k3'], ['gpu', 'h200_sxm'], ['work', 'training'],
    ['pipeline', '16'], ['expert', '64'], ['data', '16'], ['virtual_stages', '2']]) {
    const start = await used();
    await browser.fill(name, value);
    times.push(1000 * (await used() - start));
    walls.push(Number(await browser.run('return document.documentElement.dataset.milliseconds')));
  }
  await browser.devtools('Performance.disable');
  const text = (all) => `${all.map((t) => t.toFixed(0)).join(', ')} ms`;
  console.log(`an answer, and what asks for it: ${text(times)}; by the clock: ${text(walls)}`);
  const sorted = [...times].sort((a, b) => a - b);
  assert.ok(sorted[Math.floor(sorted.length / 2)] <= MOST_MILLISECONDS, text(times));
});

test('a dropped config.json is asked about', async () => {
  await browser.open();
  const config = path.join(root, 'tests/scenarios/configs/qwen3_32b.json');
  await browser.drop(config);
  await browser.until('return page.own !== null && document.getElementById("question").elements.model.value === "own"');
  assert.strictEqual(await message(), '');
  const text = await scenario();
  const yaml = program(['import', 'qwen3_32b.json'], path.dirname(config)).out;
  assert.ok(text.includes(yaml.trimEnd().split('\n').map((line) => `  ${line}`).join('\n')));
  assert.ok(verdictOf(text).includes(await browser.run('return page.answer.verdicts.find((v) => v.is_own).line')));
});

test('a file that is no config is refused as the program refuses it', async () => {
  await browser.open();
  const files = {
    'broken.json': '{"model_type": "llama", ',
    'cities.json': '{"cities": ["Paris", "Rome"]}',
    'list.json': '[1, 2, 3]',
    'picture.json': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 0xff]),
    'zero.json': '{"model_type": "llama"}\0',
    'empty.json': '',
  };
  for (const [name, content] of Object.entries(files)) {
    fs.writeFileSync(path.join(folder, name), content);
    const before = await scenario();
    await browser.run('say("")');
    await browser.drop(path.join(folder, name));
    await browser.until('return !document.getElementById("message").hidden');
    const native = program(['import', name], folder);
    assert.strictEqual(native.code, 2);
    assert.strictEqual(`${await message()}\n`, native.err);
    assert.strictEqual(await scenario(), before);
  }
});

test('a file of 50 MB is refused before it is read', async () => {
  await browser.open();
  const file = path.join(folder, 'large.json');
  fs.writeFileSync(file, Buffer.alloc(50000000, ' '));
  await browser.drop(file);
  await browser.until('return !document.getElementById("message").hidden');
  assert.strictEqual(`${await message()}\n`, program(['import', 'large.json'], folder).err);
  fs.rmSync(file);
});

test('a link holds the scenario', async () => {
  await browser.open();
  await browser.fill('model', 'deepseek_v3');
  await browser.fill('work', 'training');
  await browser.fill('pipeline', '4');
  await browser.fill('scheme', 'mhc');
  await browser.until('return location.hash.includes("mhc")');
  const text = await scenario();
  const hash = await browser.run('return location.hash');
  await browser.open(hash);
  assert.strictEqual(await scenario(), text);
  assert.strictEqual(await message(), '');
  assert.ok(await browser.run('return !document.getElementById("timeline").hidden'));
});

test('a link holds a model of one\'s own', async () => {
  await browser.open();
  await browser.drop(path.join(root, 'tests/scenarios/configs/gpt_oss_120b.json'));
  await browser.until('return page.own !== null && location.hash.includes("own=")');
  const text = await scenario();
  const hash = await browser.run('return location.hash');
  assert.ok(hash.length < 4000, `${hash.length} characters`);
  await browser.open(hash);
  assert.strictEqual(await scenario(), text);
  // Whoever cuts the link loses the model, not the page.
  await browser.open(hash.slice(0, -40));
  assert.strictEqual(await message(), 'The link is broken: its model cannot be read.');
  assert.notStrictEqual(await word(), 'No answer');
});

test('an old link is read as far as it can be, and says what is left out', async () => {
  const cases = [
    ['#v=0&gpu=h200_sxm&microscope=1', 'The link is of version \'0\', and this page reads version 1.\nThe link has a value \'microscope\' that this page does not know.'],
    ['#v=1&gpu=h200_sxm&model=kimi_k1', 'The link names the model \'kimi_k1\', which this page does not have.'],
    ['#v=1&gpu=h200_sxm&scheme=telepathy', 'The link names the scheme \'telepathy\', which this page does not have.'],
    ['#v=1&gpu=h200_sxm&own=%%%', 'The link is broken: its model cannot be read.'],
    ['#v=1&gpu=h200_sxm&own=AAAA', 'The link is broken: its model cannot be read.'],
    ['#gpu=h200_sxm', ''],
  ];
  for (const [hash, expected] of cases) {
    await browser.open(hash);
    assert.strictEqual(await message(), expected);
    assert.match(await scenario(), /^hardware: h200_sxm$/m);
    assert.notStrictEqual(await word(), 'No answer');
  }
});

test('nothing in a link is taken for markup', async () => {
  await browser.open(`#v=1&batch=${encodeURIComponent('<img src=x onerror="window.hit=1">')}&%3Cb%3E=1`);
  assert.strictEqual(await browser.run('return window.hit === undefined && document.querySelectorAll("img").length === 0'), true);
  assert.strictEqual(await word(), 'No answer');
});

test('a mistake in the form is said in the program\'s words', async () => {
  await browser.open();
  for (const [name, value] of [['tensor', '7'], ['batch', 'many'], ['block_size', '0'], ['context', '-3'], ['tensor', '8: x']]) {
    await browser.fill(name, value);
    fs.writeFileSync(path.join(folder, 'scenario.yaml'), await scenario());
    const native = program(['evaluate', 'scenario.yaml'], folder);
    if (native.code === 0) continue;
    assert.strictEqual(await word(), 'No answer', name);
    assert.ok(native.err.endsWith(` error: ${await browser.text('#reason')}\n`), native.err);
    assert.ok(await browser.run('return [...document.querySelectorAll("figure, #costs, #save-markdown")].every((f) => f.hidden)'));
    await browser.open();
  }
});

test('what is saved is what is shown', async () => {
  await browser.open();
  const text = await scenario();
  assert.strictEqual(await downloaded('#save-yaml', 'kimi_k3_b300_sxm.yaml'), text);
  verdictOf(text);
  const markdown = await downloaded('#save-markdown', 'kimi_k3_b300_sxm.md');
  assert.ok(markdown.startsWith('# Kimi K3 on 8 x NVIDIA B300 SXM\n'));
  for (const id of ['curves', 'bytes', 'memory', 'bank', 'sizes']) {
    await browser.until('return document.querySelector(arguments[0]) !== null', `#${id} .save`);
    const svg = await downloaded(`#${id} .save`, `kimi_k3_b300_sxm-${id}.svg`);
    const drawn = await browser.run(`const parsed = new DOMParser().parseFromString(arguments[0], 'image/svg+xml');
      if (parsed.querySelector('parsererror')) return 'no XML';
      const shapes = [...parsed.querySelectorAll('path, rect')];
      return shapes.every((shape) => /^(rgb|none)/.test(shape.getAttribute('fill'))) ? shapes.length : 'no colours'`, svg);
    assert.ok(drawn > 3, `${id}: ${drawn}`);
    assert.ok(!svg.includes('var('), `${id} needs no style of the page`);
  }
});

test('the keyboard reaches everything and reads the charts', async () => {
  await browser.open();
  await browser.until('return document.querySelector("#sizes svg") !== null');
  await browser.run('document.activeElement.blur()');
  const reached = new Set();
  for (let i = 0; i < 60; ++i) {
    await browser.press('\uE004');
    reached.add(await browser.run('const a = document.activeElement; return a.name || a.id || (a.closest("figure") || a).id + " " + a.tagName'));
  }
  for (const name of ['model', 'file', 'gpu', 'tensor', 'work', 'batch', 'scheme', 'schedule', 'block_size', 'copy', 'save-yaml', 'save-markdown', 'curves svg', 'sizes svg'])
    assert.ok(reached.has(name), `${name} is not reached: ${[...reached].join(', ')}`);
  await browser.run('document.querySelector("#curves svg").focus()');
  await browser.press('\uE014', '\uE014');
  assert.match(await browser.text('#curves .readout'), /^Sequences in the batch, 2\. .*Block AttnRes.*: \+/);
});

/// Text whose contrast to what is behind it is below 4.5 (WCAG 2.1, 1.4.3).
const FAINT = `
  const channel = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number);
  const behind = (node) => { for (let n = node; n; n = n.parentElement) { const c = rgb(getComputedStyle(n).backgroundColor); if (c.length < 4 || c[3] > 0) return c; } return [255, 255, 255]; };
  const faint = [];
  for (const node of document.querySelectorAll('body *')) {
    const own = [...node.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim() !== '');
    if (!own || node.closest('[hidden], script, style, option, optgroup') || node.getClientRects().length === 0) continue;
    const style = getComputedStyle(node);
    const [a, b] = [light(rgb(node instanceof SVGElement ? style.fill : style.color)), light(behind(node))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (contrast < 4.5) faint.push(node.textContent.slice(0, 30) + ' ' + contrast.toFixed(2));
  }
  return faint;`;

test('it is readable at 400 pixels and at 1,280, light and dark', async () => {
  const shots = path.join(path.dirname(process.env.DEPTHCOST_PAGE), 'screenshots');
  fs.mkdirSync(shots, {recursive: true});
  const questions = {serving: '', training: '#v=1&model=kimi_k3&gpu=h200_sxm&work=training&expert=64&data=16&pipeline=16&virtual_stages=2'};
  for (const [question, hash] of Object.entries(questions))
    for (const width of [400, 1280])
      for (const scheme of ['light', 'dark']) {
        await browser.resize(width, 900, [{name: 'prefers-color-scheme', value: scheme}]);
        await browser.open(hash);
        await browser.until('return document.documentElement.dataset.sizesOf !== undefined');
        fs.writeFileSync(path.join(shots, `${question}-${width}-${scheme}.png`), await browser.screenshot());
        assert.ok(await browser.run('return document.documentElement.scrollWidth <= innerWidth'), `${question} at ${width} is wider than the screen`);
        assert.deepStrictEqual(await browser.run(FAINT), [], `${question}, ${width}, ${scheme}`);
      }
  await browser.devtools('Emulation.clearDeviceMetricsOverride');
});

test('without WebAssembly the page says so, and what to do', async () => {
  const script = await browser.devtools('Page.addScriptToEvaluateOnNewDocument', {source: 'delete window.WebAssembly;'});
  await browser.open();
  assert.strictEqual(await word(), 'No answer');
  assert.strictEqual(await browser.text('#reason'), 'This browser has no WebAssembly, or it is switched off. The program itself needs no browser: depthcost evaluate --model kimi_k3 --hardware b300_sxm --tensor 8');
  await browser.devtools('Page.removeScriptToEvaluateOnNewDocument', script);
});
