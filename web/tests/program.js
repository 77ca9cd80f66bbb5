// The native program, and random scenarios to hold the page against it.
'use strict';

const {spawnSync} = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');

const root = path.resolve(__dirname, '../..');

function folderForTests() { return fs.mkdtempSync(path.join(os.tmpdir(), 'depthcost-page-')); }

/// {code, out, err} of `depthcost ...words` in a folder.
function program(words, cwd) {
  const run = spawnSync(process.env.DEPTHCOST_PROGRAM, words, {cwd, encoding: 'utf8', maxBuffer: 1 << 28});
  if (run.error) throw run.error;
  return {code: run.status, out: run.stdout, err: run.stderr};
}

async function engine() {
  const {Engine} = require('../page/engine.js');
  global.DepthcostEngine = require(process.env.DEPTHCOST_ENGINE);
  return Engine.start(fs.readFileSync(process.env.DEPTHCOST_ENGINE.replace(/\.js$/, '.wasm')));
}

/// Numbers in [0, 1) that are the same in every run (mulberry32).
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/// Fields of the form as somebody might fill them in.
function randomFields(choices, random) {
  const {initialFields} = require('../page/scenario.js');
  const one = (all) => all[Math.floor(random() * all.length)];
  const scheme = one(random() < 0.6 ? choices.schemes.slice(0, 4) : choices.schemes);
  const isTraining = random() < 0.3;
  return {...initialFields(), model: one(choices.models).id, gpu: one(choices.gpus).id, scheme: scheme.id,
    schedule: random() < 0.5 ? '' : one(scheme.schedules),
    block_size: scheme.has_blocks ? String(1 + Math.floor(random() * 24)) : '',
    work: isTraining ? 'training' : 'serving',
    tensor: one(['', '1', '2', '4', '8']), expert: one(['', '', '8', '16']), data: one(['', '', '2', '8']),
    context_parallel: one(['', '', '', '2']), pipeline: isTraining ? one(['', '2', '4', '8']) : '',
    virtual_stages: isTraining ? one(['', '', '2']) : '',
    micro_batches: one(['8', '16', '64']), sequence: one(['2048', '4096', '8192']),
    batch: one(['1', '1, 64, 512', '7, 33', '4096', '']), context: one(['', '1024', '8192', '131,072']),
    prompt: one(['', '1000', '16384', '131072'])};
}

module.exports = {root, folderForTests, program, engine, randomNumbers, randomFields};
