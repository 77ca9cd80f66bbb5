// The question that the form asks: as fields, as a scenario file, and as a link.
'use strict';

const LINK_VERSION = '1';

// Every field with what it is where nobody says. `text`: any text; `list`: counts, "1, 64"; `count`: a
// whole number, or nothing.
const FIELDS = {
  model: {kind: 'text', initial: 'kimi_k3'},
  gpu: {kind: 'text', initial: 'b300_sxm'},
  work: {kind: 'text', initial: 'serving', values: ['serving', 'training']},
  tensor: {kind: 'count', initial: '8'},
  expert: {kind: 'count', initial: ''},
  context_parallel: {kind: 'count', initial: ''},
  data: {kind: 'count', initial: ''},
  pipeline: {kind: 'count', initial: ''},
  virtual_stages: {kind: 'count', initial: ''},
  batch: {kind: 'list', initial: '1, 32'},
  context: {kind: 'count', initial: '8192'},
  prompt: {kind: 'count', initial: '131072'},
  sequence: {kind: 'count', initial: '8192'},
  micro_batches: {kind: 'count', initial: '64'},
  scheme: {kind: 'text', initial: 'block_attnres'},
  schedule: {kind: 'text', initial: ''},
  block_size: {kind: 'count', initial: ''},
};

function initialFields() {
  return Object.fromEntries(Object.entries(FIELDS).map(([name, field]) => [name, field.initial]));
}

const digits = (text) => text.replace(/[\s,_]/g, '');

function listOf(text) {
  return text.split(/[,;\s]+/).filter((item) => item !== '');
}

/// "1,024" is a number in a field of one; in a list a comma ends it.
function written(name, text) {
  const kind = FIELDS[name].kind;
  if (kind === 'list') return `[${listOf(text).map(quoted).join(', ')}]`;
  return quoted(kind === 'count' ? digits(text) : text);
}

/// Plain where YAML takes it for what it is, else in quotes: whatever is typed, the program says
/// what is wrong with it.
function quoted(text) {
  return /^[A-Za-z0-9_.]+$/.test(text) ? text : JSON.stringify(text);
}

function inline(entries) {
  const kept = entries.filter(([, text]) => text !== '');
  return kept.length === 0 ? '' : `{${kept.map(([key, text]) => `${key}: ${text}`).join(', ')}}`;
}

function given(fields, key, name) {
  return [key, fields[name].trim() === '' ? '' : written(name, fields[name])];
}

/// What the program puts beside a scheme where nobody says.
function comparedWith(scheme) {
  const others = ['standard', 'mhc'];
  if (scheme.endsWith('attnres')) others.push('full_attnres');
  return others.filter((other) => other !== scheme);
}

function residualLines(fields) {
  const entries = [
    ['scheme', quoted(fields.scheme)],
    given(fields, 'block_size', 'block_size'),
    given(fields, 'schedule', 'schedule'),
    ['compare', `[${comparedWith(fields.scheme).join(', ')}]`],
  ];
  return ['residual:', ...entries.filter(([, text]) => text !== '').map(([key, text]) => `  ${key}: ${text}`)];
}

function parallelism(fields) {
  const entries = [given(fields, 'tensor', 'tensor'), given(fields, 'expert', 'expert'),
    given(fields, 'context', 'context_parallel'), given(fields, 'data', 'data')];
  if (fields.work === 'training')
    entries.push(given(fields, 'pipeline', 'pipeline'), given(fields, 'virtual_stages', 'virtual_stages'));
  return inline(entries);
}

/// Chunks of 16,384 that the tensor ranks share, as serving engines do it.
function prefillEntries(fields) {
  const tokens = Number(digits(fields.prompt));
  const chunk = Number.isSafeInteger(tokens) && tokens < 16384 ? digits(fields.prompt) : '16384';
  return inline([given(fields, 'tokens', 'prompt'), ['chunk', chunk],
    given(fields, 'sequence_shards', 'tensor')]);
}

function workloadLines(fields) {
  if (fields.work === 'training')
    return [`  training: ${inline([given(fields, 'sequence_length', 'sequence'),
      given(fields, 'micro_batches', 'micro_batches')]) || '{}'}`];
  const lines = [];
  if (fields.batch.trim() !== '')
    lines.push(`  decode: ${inline([given(fields, 'sequences', 'batch'), given(fields, 'context', 'context')])}`);
  if (fields.prompt.trim() !== '') lines.push(`  prefill: ${prefillEntries(fields)}`);
  return lines;
}

function numDevices(fields) {
  const names = ['tensor', 'data', 'context_parallel', ...(fields.work === 'training' ? ['pipeline'] : [])];
  return names.map((name) => Number(digits(fields[name]) || 1)).reduce((a, b) => a * b, 1);
}

/// The scenario file. `own`: the model of the reader's own file, or null; `names`: of model and GPU.
function scenarioText(fields, own, names) {
  const devices = numDevices(fields);
  const title = `${names.model} on ${Number.isSafeInteger(devices) && devices > 1 ? `${devices} x ` : ''}${names.gpu}`;
  const model = own === null ? [`model: ${quoted(fields.model)}`]
    : ['model:', ...own.yaml.trimEnd().split('\n').map((line) => `  ${line}`)];
  const parallel = parallelism(fields);
  const work = workloadLines(fields);
  return [
    'schema: depthcost/1',
    `name: ${JSON.stringify(title)}`,
    ...model,
    `hardware: ${quoted(fields.gpu)}`,
    ...residualLines(fields),
    ...(parallel === '' ? [] : [`parallelism: ${parallel}`]),
    ...(work.length === 0 ? [] : ['workload:', ...work]),
    '',
  ].join('\n');
}

/// "llama_3_1_70b_h100_sxm": the stem of the names of files.
function stemOf(fields, own) {
  const model = own === null ? fields.model : own.name.replace(/[^A-Za-z0-9]+/g, '_').toLowerCase();
  return `${model}_${fields.gpu}`;
}

function toBase64Url(bytes) {
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '');
}

function fromBase64(text) {
  const plain = atob(text.replace(/-/g, '+').replace(/_/g, '/'));
  const bytes = new Uint8Array(plain.length);
  for (let i = 0; i < plain.length; ++i) bytes[i] = plain.charCodeAt(i);
  return bytes;
}

async function through(bytes, stream) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

// The longest model file that a link may unpack to: a link of another's must not fill the memory.
const MOST_LINKED_BYTES = 1000000;

async function unpacked(text) {
  const reader = new Blob([fromBase64(text)]).stream()
    .pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  const parts = [];
  let size = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.length;
    if (size > MOST_LINKED_BYTES) throw new Error('too large');
    parts.push(part.value);
  }
  const decoder = new TextDecoder('utf-8', {fatal: true});
  return decoder.decode(await new Blob(parts).arrayBuffer());
}

/// The part of a link behind '#'. Fields as nobody has changed them are left out.
async function linkOf(fields, own) {
  const link = new URLSearchParams({v: LINK_VERSION});
  for (const [name, {initial}] of Object.entries(FIELDS))
    if (fields[name] !== initial && !(name === 'model' && own !== null)) link.set(name, fields[name]);
  if (own !== null) {
    const packed = await through(new TextEncoder().encode(JSON.stringify(own)), new CompressionStream('deflate-raw'));
    link.set('own', toBase64Url(packed));
  }
  return link.toString();
}

function isOwnModel(own) {
  return own !== null && typeof own === 'object' && typeof own.name === 'string' && typeof own.yaml === 'string' &&
    typeof own.scheme === 'string' && Number.isSafeInteger(own.num_layers) && own.num_layers > 0;
}

async function ownModelOf(text) {
  try {
    const own = JSON.parse(await unpacked(text));
    if (isOwnModel(own)) return own;
  } catch {
    // Cut off, or never packed by this page.
  }
  return null;
}

/// Fields, own model, and one sentence for whatever is left out. `has(field, id)`: whether this page
/// offers a preset or scheme of that name.
async function readLink(text, has) {
  const fields = initialFields();
  const remarks = [];
  let own = null;
  const link = new URLSearchParams(text);
  const version = link.get('v');
  if (version !== null && version !== LINK_VERSION)
    remarks.push(`The link is of version '${version}', and this page reads version ${LINK_VERSION}.`);
  for (const [name, value] of link) {
    if (name === 'v') continue;
    if (name === 'own') {
      own = await ownModelOf(value);
      if (own === null) remarks.push('The link is broken: its model cannot be read.');
    } else if (!(name in FIELDS)) {
      remarks.push(`The link has a value '${name}' that this page does not know.`);
    } else if (!has(name, value)) {
      remarks.push(`The link names the ${name} '${value}', which this page does not have.`);
    } else {
      fields[name] = value;
    }
  }
  return {fields, own, remarks};
}

if (typeof module !== 'undefined') module.exports = {initialFields, scenarioText, linkOf, readLink, FIELDS};
