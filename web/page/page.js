// The form asks, the engine answers, the charts draw.
'use strict';

// A byte more than the program reads of a file: enough for it to say that the file is too large.
const MOST_FILE_BYTES = 1000001;
const SCENARIO_FILE = 'scenario.yaml';
const COMMON_SCHEMES = ['block_attnres', 'full_attnres', 'mhc', 'standard'];

const element = (id) => document.getElementById(id);
const form = element('question');
const field = (name) => form.elements.namedItem(name);

const page = {engine: null, choices: null, fields: initialFields(), own: null, text: '',
  stem() { return stemOf(this.fields, this.own); }};

function saveFile(name, text, type) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], {type}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

function say(text) {
  element('message').textContent = text;
  element('message').hidden = text === '';
}

/// A sentence of the program, which writes names in backticks. No line begins with "%".
function showSentence(node, text) {
  node.textContent = '';
  text.replace(/ %/g, '\u00a0%').split('`').forEach((part, i) => {
    if (i % 2 === 0) return node.append(part);
    const code = document.createElement('code');
    code.textContent = part;
    node.append(code);
  });
}

function showWord(word, fate, reason) {
  element('word').textContent = word;
  element('word').dataset.fate = fate;
  showSentence(element('reason'), reason);
}

/// "a decode step with 64 sequences" of "decode/64".
function workloadText(workload) {
  const [kind, batch] = workload.split('/');
  if (kind === 'decode') return `a decode step with ${Number(batch).toLocaleString('en')} sequence${batch === '1' ? '' : 's'}`;
  return kind === 'training' ? 'a training step' : 'the prefill';
}

/// "+0.5 % [0.2, 0.9]" is a number and its interval.
function showNumber(verdict) {
  element('number').hidden = !verdict || !verdict.overhead;
  if (element('number').hidden) return;
  const [share, interval] = verdict.overhead.text.split(' [');
  element('share').textContent = share;
  const where = verdict.fate === 'does not fit' ? ', where it fits' : '';
  element('interval').textContent = `${interval ? `[${interval} holds 90\u00a0%, of ` : 'of '}${workloadText(verdict.workload)}${where}`;
}

function cell(row, text) {
  const made = row.insertCell();
  made.textContent = text;
  return made;
}

function showOthers(verdicts) {
  const body = element('others').tBodies[0];
  body.textContent = '';
  element('others').hidden = verdicts.length === 0;
  for (const verdict of verdicts) {
    const row = body.insertRow();
    const name = cell(row, labelOf(verdict));
    const dot = document.createElement('span');
    dot.className = 'dot';
    dot.style.background = colorOf(verdict.scheme);
    name.prepend(dot);
    cell(row, verdict.fate).dataset.fate = verdict.fate;
    cell(row, verdict.overhead ? `${verdict.overhead.text} to ${verdict.workload}` : '-');
  }
}

function showCosts(answer) {
  const body = element('costs').querySelector('tbody');
  body.textContent = '';
  element('costs').hidden = !answer.costs;
  if (!answer.costs) return;
  for (const cost of answer.costs) {
    const row = body.insertRow();
    for (const text of [cost.workload, cost.scheme, cost.time, cost.share]) cell(row, text);
  }
  showSentence(element('legend'), answer.legend);
  element('sentences').textContent = '';
  for (const sentence of answer.sentences) {
    const item = document.createElement('li');
    showSentence(item, sentence);
    element('sentences').append(item);
  }
}

const FIGURES = {curves: drawCurves, bytes: drawBytes, memory: drawMemory, bank: drawBank, timeline: drawTimeline, sizes: drawSizes};

function drawFigures(answer) {
  for (const [id, draw] of Object.entries(FIGURES)) if (id !== 'sizes') draw(element(id), answer);
}

function showError(error) {
  const [, , , problem] = error.match(/^([^:]*):(\d+):\d+: error: (.*)$/s) || [null, null, null, error];
  element('asked').textContent = '';
  element('save-markdown').hidden = true;
  showWord('No answer', 'error', '');
  element('reason').textContent = problem;
  showNumber(null);
  showOthers([]);
  element('costs').hidden = true;
  for (const id of Object.keys(FIGURES)) element(id).hidden = true;
}

function showVerdict(answer) {
  const own = answer.verdicts.find((verdict) => verdict.is_own);
  const reason = [answer.nothing_fits, own && own.line].filter(Boolean).join(' ');
  if (own) showWord(own.fate, own.fate, reason);
  else showWord('The baseline', '', 'The standard residual is what every other scheme is held against.');
  showNumber(own);
  showOthers(answer.verdicts.filter((verdict) => verdict !== own));
}

function showAnswer(answer) {
  element('asked').textContent = `${answer.title}: ${answer.num_layers} layers`;
  document.title = `${answer.title} - depthcost`;
  element('save-markdown').hidden = false;
  showVerdict(answer);
  showCosts(answer);
  drawFigures(answer);
}

/// What is drawn last: other blocks take longer than the answer itself.
let sizesTimer = 0;
function askSizes() {
  clearTimeout(sizesTimer);
  sizesTimer = setTimeout(() => {
    page.sizes = page.engine.blockSizes(page.text, SCENARIO_FILE);
    drawSizes(element('sizes'), page.sizes);
    document.documentElement.dataset.sizesOf = page.asked;
  }, 60);
}

function names() {
  const model = page.own || page.choices.models.find((known) => known.id === page.fields.model);
  return {model: model.name, gpu: page.choices.gpus.find((known) => known.id === page.fields.gpu).name};
}

async function ask() {
  const start = performance.now();
  page.text = scenarioText(page.fields, page.own, names());
  page.answer = page.engine.answer(page.text, SCENARIO_FILE);
  if (page.answer.error) {
    showError(page.answer.error);
  } else {
    showAnswer(page.answer);
    askSizes();
  }
  const milliseconds = performance.now() - start;
  page.asked = (page.asked || 0) + 1;
  document.documentElement.dataset.asked = page.asked;
  document.documentElement.dataset.milliseconds = milliseconds;
  element('speed').textContent = `This answer took ${Math.max(1, Math.round(milliseconds))} ms.`;
  const {asked} = page;
  const link = await linkOf(page.fields, page.own);
  if (page.asked === asked) history.replaceState(null, '', `#${link}`);
}

/// Schedules and blocks that the chosen scheme has. The first choice is what the program takes.
function fitSchemeFields() {
  const scheme = page.choices.schemes.find((known) => known.id === page.fields.scheme);
  const select = field('schedule');
  select.textContent = '';
  select.append(new Option('as shipped', ''));
  for (const schedule of scheme.schedules) select.append(new Option(schedule.replace(/_/g, ' '), schedule));
  if (!scheme.schedules.includes(page.fields.schedule)) page.fields.schedule = '';
  select.value = page.fields.schedule;
  element('block-size').hidden = !scheme.has_blocks;
  if (!scheme.has_blocks) page.fields.block_size = '';
  else if (page.fields.block_size === '') page.fields.block_size = usualBlockSize();
  field('block_size').value = page.fields.block_size;
}

/// About eight blocks, as the paper has them, of whole decoder layers.
function usualBlockSize() {
  const model = page.own || page.choices.models.find((known) => known.id === page.fields.model);
  return String(Math.max(2, 2 * Math.round(model.num_layers / 16)));
}

function fillForm() {
  for (const name of Object.keys(FIELDS))
    if (name !== 'schedule' && name !== 'block_size') field(name).value = page.fields[name];
  if (page.own !== null) field('model').value = 'own';
  fitSchemeFields();
  for (const part of document.querySelectorAll('[data-work]')) part.hidden = part.dataset.work !== page.fields.work;
}

/// A scheme that the model does not come with is a question about it: Block AttnRes.
function takeSchemeOf(model) {
  page.fields.scheme = model.scheme === 'standard' ? 'block_attnres' : model.scheme;
  page.fields.schedule = '';
  page.fields.block_size = '';
}

function takeOwn(own) {
  page.own = own;
  for (const option of [...field('model').options]) if (option.value === 'own') option.remove();
  if (own === null) return;
  field('model').prepend(new Option(`${own.name} (yours)`, 'own'));
  field('model').value = 'own';
}

function changed(event) {
  say('');
  const {name, value} = event.target;
  if (!(name in FIELDS)) return;
  if (name === 'model') {
    if (value !== 'own') {
      takeOwn(null);
      page.fields.model = value;
      takeSchemeOf(page.choices.models.find((known) => known.id === value));
    }
  } else {
    page.fields[name] = value;
  }
  if (name === 'scheme') page.fields.schedule = '';
  if (name === 'model' || name === 'scheme' || name === 'work') fillForm();
  ask();
}

async function takeFile(file) {
  const bytes = new Uint8Array(await file.slice(0, MOST_FILE_BYTES).arrayBuffer());
  const own = page.engine.imported(bytes, file.name);
  if (own.error) return say(own.error);
  say('');
  takeOwn(own);
  takeSchemeOf(own);
  fillForm();
  ask();
}

function listenForFiles() {
  element('file').addEventListener('change', (event) => {
    if (event.target.files.length > 0) takeFile(event.target.files[0]);
    event.target.value = '';
  });
  const dropping = (is) => document.body.classList.toggle('dropping', is);
  for (const type of ['dragenter', 'dragover'])
    document.addEventListener(type, (event) => { event.preventDefault(); dropping(true); });
  document.addEventListener('dragleave', (event) => { if (event.relatedTarget === null) dropping(false); });
  document.addEventListener('drop', (event) => {
    event.preventDefault();
    dropping(false);
    if (event.dataTransfer.files.length > 0) takeFile(event.dataTransfer.files[0]);
  });
}

function listen() {
  form.addEventListener('input', changed);
  form.addEventListener('submit', (event) => event.preventDefault());
  listenForFiles();
  element('save-yaml').addEventListener('click', () => saveFile(`${page.stem()}.yaml`, page.text, 'text/yaml'));
  element('save-markdown').addEventListener('click', () =>
    saveFile(`${page.stem()}.md`, page.engine.markdown(page.text, SCENARIO_FILE), 'text/markdown'));
  element('copy').addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      element('copy').textContent = 'Copied';
    } catch {
      element('copy').textContent = 'Copy it from the address bar';
    }
    setTimeout(() => { element('copy').textContent = 'Copy link'; }, 2000);
  });
  window.addEventListener('hashchange', openLink);
  window.addEventListener('resize', () => {
    if (!page.answer || page.answer.error) return;
    drawFigures(page.answer);
    if (page.sizes) drawSizes(element('sizes'), page.sizes);
  });
}

function fillChoices() {
  for (const model of page.choices.models) field('model').append(new Option(model.name, model.id));
  for (const gpu of page.choices.gpus) field('gpu').append(new Option(gpu.name, gpu.id));
  const group = (label, schemes) => {
    const made = document.createElement('optgroup');
    made.label = label;
    for (const scheme of schemes) made.append(new Option(scheme.label, scheme.id));
    field('scheme').append(made);
  };
  const byId = (id) => page.choices.schemes.find((scheme) => scheme.id === id);
  group('Measured by others', COMMON_SCHEMES.map(byId));
  group('Counted', page.choices.schemes.filter((scheme) => !COMMON_SCHEMES.includes(scheme.id)));
}

function isOffered(name, value) {
  const offered = {model: page.choices.models, gpu: page.choices.gpus, scheme: page.choices.schemes}[name];
  if (offered) return offered.some((known) => known.id === value);
  return !FIELDS[name].values || FIELDS[name].values.includes(value);
}

async function openLink() {
  const {fields, own, remarks} = await readLink(location.hash.slice(1), isOffered);
  page.fields = fields;
  takeOwn(own);
  say(remarks.join('\n'));
  fillForm();
  ask();
}

async function start() {
  const missing = missingFeature();
  if (missing !== '') {
    element('asked').textContent = '';
    showWord('No answer', 'error', `${missing} The program itself needs no browser: depthcost evaluate --model kimi_k3 --hardware b300_sxm --tensor 8`);
    form.hidden = true;
    element('answers').hidden = true;
    return;
  }
  const packed = fromBase64(element('engine').textContent);
  page.engine = await Engine.start(await through(packed, new DecompressionStream('gzip')));
  page.choices = page.engine.choices();
  fillChoices();
  listen();
  await openLink();
}

start();
