// The engine of the page against the native program, byte for byte.
'use strict';

const assert = require('assert');
const fs = require('fs');
const path = require('path');
const {test, before} = require('node:test');
const {root, folderForTests, program, engine, randomNumbers, randomFields} = require('./program.js');
const {scenarioText} = require('../page/scenario.js');

const ANSWERED = 200;
const folder = folderForTests();
let page;

before(async () => { page = await engine(); });

/// Whether the program answers; the page must say the same either way.
function sayTheSame(name, text) {
  fs.writeFileSync(path.join(folder, name), text);
  const native = program(['evaluate', name, '--format', 'json'], folder);
  const ours = page.evaluation(text, name);
  if (native.code !== 0) {
    assert.strictEqual(`${JSON.parse(ours).error}\n`, native.err, text);
    return false;
  }
  // assert.strictEqual would print megabytes.
  if (ours !== native.out) {
    const at = [...native.out.split('\n').entries()].find(([i, line]) => line !== ours.split('\n')[i]);
    assert.fail(`${name} differs at line ${at}\n${text}`);
  }
  return true;
}

test('200 random scenarios give the bytes of the program', () => {
  const choices = page.choices();
  const random = randomNumbers(20260316);
  const seen = {models: new Set(), gpus: new Set(), schemes: new Set()};
  let answered = 0;
  let refused = 0;
  for (let i = 0; answered < ANSWERED; ++i) {
    const fields = randomFields(choices, random);
    const names = {model: fields.model, gpu: fields.gpu};
    if (sayTheSame(`random_${i}.yaml`, scenarioText(fields, null, names))) {
      ++answered;
      seen.models.add(fields.model);
      seen.gpus.add(fields.gpu);
      seen.schemes.add(fields.scheme);
    } else {
      ++refused;
    }
  }
  assert.ok(refused > 10, 'refusals are compared, too');
  assert.strictEqual(seen.models.size, choices.models.length);
  assert.strictEqual(seen.gpus.size, choices.gpus.length);
  assert.ok(seen.schemes.size > 20);
});

test('the shipped scenarios give the bytes of the program', () => {
  const names = fs.readdirSync(path.join(root, 'scenarios')).filter((name) => name.endsWith('.yaml'));
  assert.ok(names.length > 8);
  for (const name of names)
    assert.ok(sayTheSame(name, fs.readFileSync(path.join(root, 'scenarios', name), 'utf8')), name);
});

test('every known config.json is imported as the program imports it', () => {
  const configs = path.join(root, 'tests/scenarios/configs');
  const names = fs.readdirSync(configs).filter((name) => name.endsWith('.json'));
  assert.ok(names.length > 30);
  for (const name of names) {
    const native = program(['import', name], configs);
    const ours = page.imported(fs.readFileSync(path.join(configs, name)), name);
    if (native.code === 0) assert.strictEqual(ours.yaml, native.out);
    else assert.strictEqual(`${ours.error}\n`, native.err);
  }
});

test('an imported model inside a scenario costs what the program says of its config.json', () => {
  const config = path.join(root, 'tests/scenarios/configs/qwen3_32b.json');
  const own = page.imported(fs.readFileSync(config), 'qwen3_32b.json');
  const {initialFields} = require('../page/scenario.js');
  const fields = {...initialFields(), block_size: '16', gpu: 'h200_sxm', batch: '1, 64', prompt: '131072'};
  const ours = JSON.parse(page.evaluation(scenarioText(fields, own, {model: 'Qwen', gpu: 'H200'}), 's.yaml'));
  const native = JSON.parse(program(['evaluate', '--model', config, '--hardware', 'h200_sxm', '--tensor', '8',
    '--residual', 'block_attnres', '--block-size', '16', '--decode', '1,64', '--format', 'json'], folder).out);
  for (const part of ['ledger', 'memory', 'time', 'step', 'rest'])
    assert.deepStrictEqual(ours[part], native[part], part);
  assert.ok(ours.step.length > 0);
});

test('the Markdown is that of the program without gnuplot', () => {
  for (const name of ['kimi_k3_8xb300.yaml', 'kimi_k3_training.yaml']) {
    const file = path.join(root, 'scenarios', name);
    const stem = name.replace('.yaml', '');
    const {PATH} = process.env;
    process.env.PATH = folder; // no gnuplot there
    const native = program(['report', file, '-o', folder], folder);
    process.env.PATH = PATH;
    assert.strictEqual(native.code, 0, native.err);
    const read = (ending) => fs.readFileSync(path.join(folder, stem + ending), 'utf8');
    const report = read('.md')
      .replace(/\*No plots: gnuplot[^\n]*\n/, '*No plots: the page saves each as a file of its own.*\n')
      .replace(`Every table behind these numbers: [the appendix](${stem}-appendix.md).\n\n`, '');
    const ours = page.markdown(fs.readFileSync(file, 'utf8'), name);
    const [appendixTitle] = read('-appendix.md').split('\n');
    assert.ok(ours.startsWith(report), `${name}: the report`);
    assert.ok(ours.includes(appendixTitle), `${name}: the appendix`);
  }
});
