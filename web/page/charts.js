// The charts. Each takes a figure and its part of an answer; every text with a number in it comes
// from the answer. d3 of Debian (version 3) draws.
'use strict';

const COLORS = {standard: 'var(--standard)', mhc: 'var(--mhc)', full_attnres: 'var(--full)', block_attnres: 'var(--block)'};
const colorOf = (scheme) => COLORS[scheme] || 'var(--other)';
const labelOf = (row) => `${row.label}, ${row.schedule.replace(/_/g, ' ')}`;

/// Empties the figure and gives it a heading, a sentence, and room for what else it has.
function framed(figure, heading, sentence) {
  const d = d3.select(figure);
  d.html('').attr('hidden', null);
  d.append('h2').text(heading);
  const about = d.append('div').attr('class', 'about');
  about.append('p').text(sentence);
  return {d, about, width: Math.max(260, figure.clientWidth)};
}

function canvas(frame, height, caption, margin) {
  const svg = frame.d.append('svg').attr('viewBox', `0 0 ${frame.width} ${height}`)
    .attr('role', 'img').attr('aria-label', caption);
  return {svg, inner: svg.append('g').attr('transform', `translate(${margin.left},${margin.top})`),
    width: frame.width - margin.left - margin.right, height: height - margin.top - margin.bottom};
}

function addSave(frame) {
  frame.d.append('button').attr({type: 'button', class: 'save'}).text('Save SVG')
    .on('click', () => saveSvg(frame.d.node()));
}

/// What is drawn is in variables of the page's style; a file of its own has none.
function saveSvg(figure) {
  const drawn = figure.querySelector('svg');
  const copy = drawn.cloneNode(true);
  const from = [drawn, ...drawn.querySelectorAll('*')];
  const to = [copy, ...copy.querySelectorAll('*')];
  const properties = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'opacity', 'fill-opacity', 'font-size',
    'font-family', 'font-weight', 'text-anchor', 'visibility'];
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    for (const property of properties) to[i].setAttribute(property, style.getPropertyValue(property));
    to[i].removeAttribute('style');
  });
  const [, , width, height] = drawn.getAttribute('viewBox').split(' ');
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', width);
  copy.setAttribute('height', height);
  const paper = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  for (const [name, value] of [['width', '100%'], ['height', '100%'],
    ['fill', getComputedStyle(document.body).backgroundColor]]) paper.setAttribute(name, value);
  copy.insertBefore(paper, copy.firstChild);
  saveFile(`${page.stem()}-${figure.id}.svg`, new XMLSerializer().serializeToString(copy), 'image/svg+xml');
}

/// A row of choices in the figure's head; `chosen` outlives the figure's content.
function segments(frame, name, choices, chosen, choose) {
  if (choices.length < 2) return;
  const group = frame.about.append('div').attr({class: 'segments', role: 'radiogroup', 'aria-label': name});
  for (const [value, text] of choices) {
    const label = group.append('label');
    label.append('input').attr({type: 'radio', name: `${frame.d.attr('id')}-${name}`, value})
      .property('checked', value === chosen).on('change', () => {
        choose(value);
        const again = frame.d.node().querySelector(`input[value="${value}"]`);
        if (again) again.focus();
      });
    label.append('span').text(text);
  }
}

function legend(frame, entries) {
  const keys = frame.d.append('ul').attr('class', 'keys');
  for (const [color, text] of entries) {
    const item = keys.append('li');
    item.append('span').attr('class', 'dot').style('background', color);
    item.append('span').text(text);
  }
}

const TIME_UNITS = [[1, 's'], [1e-3, 'ms'], [1e-6, 'us'], [1e-9, 'ns']];

function unitOf(largest, quantity) {
  if (quantity === 'ratio') return [0.01, '%'];
  if (quantity === 'bytes')
    return [[1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB'], [1, 'B']].find(([size]) => largest >= size) || [1, 'B'];
  return TIME_UNITS.find(([size]) => largest >= size) || TIME_UNITS[3];
}

/// From zero, unless the values are positive and too far apart for one scale.
function verticalScale(lows, values, highs, height) {
  const least = Math.min(...values);
  const most = Math.max(...highs);
  if (least > 0 && Math.max(...values) > 100 * least)
    return {scale: d3.scale.log().domain([Math.max(Math.min(...lows.filter((v) => v > 0)), least / 4), 1.3 * most])
      .range([height, 0]).clamp(true), isLog: true};
  const low = Math.min(0, ...lows);
  return {scale: d3.scale.linear().domain([1.05 * low, 1.08 * most || 1]).range([height, 0]), isLog: false};
}

function drawAxes(at, x, y, isLog, unit, xTicks) {
  const [size, name] = unit;
  const ticks = isLog ? d3.range(-12, 16).map((e) => 10 ** e)
    .filter((v) => v >= y.domain()[0] && v <= y.domain()[1]) : y.ticks(5);
  const yAxis = d3.svg.axis().scale(y).orient('left').tickValues(ticks).tickSize(-at.width).tickPadding(8)
    .tickFormat((v) => String(Number((v / size).toPrecision(3))));
  at.inner.append('g').call(yAxis).append('text').attr({x: -8, y: -10, 'text-anchor': 'end'}).text(name);
  const xAxis = d3.svg.axis().scale(x).orient('bottom').tickValues(xTicks).tickSize(0).tickPadding(10)
    .tickFormat((v) => (v >= 1024 && v % 1024 === 0 ? `${v / 1024}K` : String(v)));
  at.inner.append('g').attr('transform', `translate(0,${at.height})`).call(xAxis);
}

/// Powers of two, as many as have room.
function powerTicks([low, high], width) {
  const all = [];
  for (let power = 1; power <= high; power *= 2) if (power >= low) all.push(power);
  const step = Math.ceil(all.length / Math.max(2, Math.floor(width / 48)));
  return all.filter((_, i) => i % step === 0);
}

/// Lines with bands over a logarithmic axis. `lines`: [{label, color, isMain, points: [{x, low, value,
/// high, text, isMarked, isBroken}]}]. Arrow keys and the pointer read one x after another.
function lineChart(frame, lines, {quantity, caption, xName, mark}) {
  const margin = {top: 26, right: 12, bottom: 44, left: 58};
  const at = canvas(frame, 330, caption, margin);
  const all = lines.flatMap((line) => line.points);
  const xs = [...new Set(all.map((point) => point.x))].sort((a, b) => a - b);
  const x = d3.scale.log().base(2).domain(xs.length > 1 ? d3.extent(xs) : [xs[0] / 2, 2 * xs[0]]).range([0, at.width]);
  const {scale: y, isLog} = verticalScale(all.map((p) => p.low), all.map((p) => p.value), all.map((p) => p.high), at.height);
  const unit = unitOf(Math.max(...all.map((p) => p.value)), quantity);
  drawAxes(at, x, y, isLog, unit, powerTicks(x.domain(), at.width));
  at.inner.append('text').attr({x: at.width, y: at.height + 40, 'text-anchor': 'end'}).text(xName);
  const floor = (v) => (isLog ? Math.max(v, y.domain()[0]) : v);
  const area = d3.svg.area().x((p) => x(p.x)).y0((p) => y(floor(p.low))).y1((p) => y(floor(p.high)));
  const path = d3.svg.line().x((p) => x(p.x)).y((p) => y(floor(p.value)));
  for (const line of lines)
    at.inner.append('path').attr({d: area(line.points), 'fill-opacity': line.isMain ? 0.2 : 0.08}).style('fill', line.color);
  if (mark && mark.y !== undefined && mark.y >= y.domain()[0] && mark.y <= y.domain()[1]) {
    at.inner.append('line').attr({class: 'limit', x1: 0, x2: at.width, y1: y(mark.y), y2: y(mark.y)});
    at.inner.append('text').attr({class: 'value', x: at.width, y: y(mark.y) - 6, 'text-anchor': 'end'}).text(mark.text);
  }
  if (mark && mark.x !== undefined) {
    at.inner.append('line').attr({class: 'limit', y1: 0, y2: at.height, x1: x(mark.x), x2: x(mark.x)});
    const isLeft = x(mark.x) > at.width / 2;
    at.inner.append('text').attr({class: 'value', x: x(mark.x) + (isLeft ? -6 : 6), y: 10,
      'text-anchor': isLeft ? 'end' : 'start'}).text(mark.text);
  }
  for (const line of lines) {
    const whole = line.points.filter((point) => !point.isBroken);
    at.inner.append('path').attr({d: path(line.points), 'stroke-width': 1, 'stroke-dasharray': '2 4', fill: 'none'}).style('stroke', line.color);
    at.inner.append('path').attr({d: whole.length ? path(whole) : '', 'stroke-width': line.isMain ? 2.5 : 1.5, fill: 'none'}).style('stroke', line.color);
    at.inner.selectAll(null).data(line.points.filter((point) => point.isMarked)).enter().append('circle')
      .attr({cx: (p) => x(p.x), cy: (p) => y(floor(p.value)), r: line.isMain ? 4 : 2.5}).style('fill', line.color);
  }
  legend(frame, lines.map((line) => [line.color, line.label]));
  addReadout(frame, at, {lines, xs, x, margin, xName});
}

function addReadout(frame, at, {lines, xs, x, margin, xName}) {
  const rule = at.inner.append('line').attr({class: 'rule', y1: 0, y2: at.height, visibility: 'hidden'});
  const readout = frame.d.append('p').attr({class: 'readout', 'aria-live': 'polite'})
    .text('Point at the chart, or press the arrow keys on it, to read a value.');
  let chosen = -1;
  const show = (index) => {
    chosen = Math.max(0, Math.min(xs.length - 1, index));
    const value = xs[chosen];
    rule.attr({x1: x(value), x2: x(value), visibility: 'visible'});
    const texts = lines.map((line) => [line, line.points.find((point) => point.x === value)])
      .filter(([, point]) => point).map(([line, point]) => `${line.label}: ${point.text}`);
    readout.text(`${xName}, ${value.toLocaleString('en')}. ${texts.join('; ')}.`);
  };
  const svg = at.svg.attr('tabindex', 0);
  svg.on('mousemove', () => {
    const [px] = d3.mouse(svg.node());
    const distances = xs.map((value) => Math.abs(x(value) + margin.left - px));
    show(distances.indexOf(Math.min(...distances)));
  });
  svg.on('keydown', () => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[d3.event.key];
    if (step === undefined) return;
    d3.event.preventDefault();
    show(chosen + step);
  });
}

const chosenMeasure = {curves: 'time', sizes: 'decode'};

function drawCurves(figure, answer) {
  const curves = (answer.curves || []).filter((curve) => curve.points.length > 0);
  figure.hidden = curves.length === 0;
  if (figure.hidden) return;
  const hasShare = curves.some((curve) => curve.points.some((point) => point.overhead));
  const measure = hasShare ? chosenMeasure.curves : 'time';
  const frame = framed(figure, 'Added time against the batch',
    'What each scheme adds to a decode step. Bands are 90 % intervals; the dashed part does not fit in memory.');
  segments(frame, 'unit', hasShare ? [['time', 'Time'], ['share', 'Of the step']] : [], measure, (value) => {
    chosenMeasure.curves = value;
    drawCurves(figure, answer);
  });
  const key = measure === 'time' ? 'delta' : 'overhead';
  const lines = curves.map((curve) => ({label: labelOf(curve), color: colorOf(curve.scheme), isMain: curve.is_own,
    points: curve.points.filter((point) => point[key]).map((point) => ({x: point.sequences, low: point[key].low,
      value: point[key].value, high: point[key].high, text: point[key].text + (point.fits ? '' : ', does not fit'),
      isMarked: point.is_asked, isBroken: !point.fits}))})).filter((line) => line.points.length > 0);
  const own = answer.verdicts.find((verdict) => verdict.is_own && verdict.limit);
  lineChart(frame, lines, {quantity: measure === 'time' ? 'time' : 'ratio', xName: 'Sequences in the batch',
    caption: 'Time that each scheme adds to a decode step, against the batch',
    mark: measure === 'share' && own ? {y: parseFloat(own.limit) / 100, text: `limit ${own.limit}`} : null});
  addSave(frame);
}

/// Horizontal bars, each with its name above it. `rows`: [{name, value, text, color, isPale}].
function bars(frame, rows, caption, longest) {
  const step = 40;
  const at = canvas(frame, rows.length * step + 6, caption, {top: 0, right: 96, bottom: 0, left: 0});
  const x = d3.scale.linear().domain([0, longest]).range([0, at.width]);
  rows.forEach((row, i) => {
    const g = at.inner.append('g').attr('transform', `translate(0,${i * step})`);
    const isCut = row.value > longest;
    const end = Math.max(1.5, x(Math.min(row.value, longest)));
    g.append('text').attr({y: 15, class: row.isPale ? null : 'value'}).text(row.name);
    g.append('rect').attr({y: 20, height: 13, width: end, rx: 2, 'fill-opacity': row.isPale ? 0.35 : 1}).style('fill', row.color);
    g.append('text').attr({x: end + 7, y: 31, class: 'value'}).text(row.text + (isCut ? ' \u2192' : ''));
  });
}

function drawBytes(figure, answer) {
  const rows = answer.bytes || [];
  figure.hidden = rows.every((row) => row.bytes === 0);
  if (figure.hidden) return;
  const own = rows.find((row) => row.is_own && row.is_quoted);
  const longest = Math.max(...rows.map((row) => row.bytes).filter((bytes) => bytes <= 10 * own.bytes));
  const frame = framed(figure, 'Bytes by scheme',
    'What the residual path moves per token and forward pass. Pale: schedules that are not the one that counts here.');
  bars(frame, rows.map((row) => ({name: labelOf(row), value: row.bytes, text: row.text, color: colorOf(row.scheme),
    isPale: !row.is_quoted})), 'Bytes that each scheme and schedule moves per token', longest);
  addSave(frame);
}

const RESIDUAL = ['hidden_state', 'streams', 'bank', 'embedding', 'phase1_outputs'];
const ITEM_GROUPS = [
  {name: 'weights', color: 'var(--weights)', items: ['weights', 'scheme_weights']},
  {name: 'gradients and optimiser', color: 'var(--training)', items: ['gradients', 'optimizer_states']},
  {name: 'KV cache', color: 'var(--cache)', items: ['kv_cache']},
  {name: 'activations of the layers', color: 'var(--cache)', items: ['layer_activations']},
  {name: 'residual path', color: 'var(--residual)', items: [...RESIDUAL, 'activations', 'pipeline_blocks']},
];

function drawMemory(figure, answer) {
  const rows = (answer.memory || []).filter((row) => row.is_own && row.items.length > 0);
  figure.hidden = rows.length === 0 || !answer.capacity;
  if (figure.hidden) return;
  const frame = framed(figure, 'Does it fit',
    `What the fullest device holds, of ${answer.capacity_text}. A tenth should stay free for what is not counted.`);
  const step = 40;
  const at = canvas(frame, rows.length * step + 26, 'Memory of the fullest device against what it has',
    {top: 20, right: 96, bottom: 0, left: 0});
  const x = d3.scale.linear().domain([0, Math.max(answer.capacity, ...rows.map((row) => Math.min(row.bytes, 2 * answer.capacity)))])
    .range([0, at.width]).clamp(true);
  rows.forEach((row, i) => {
    const g = at.inner.append('g').attr('transform', `translate(0,${i * step})`);
    g.append('text').attr({y: 15, class: 'value'}).text(row.workload);
    let done = 0;
    for (const group of ITEM_GROUPS) {
      const bytes = row.items.filter((item) => group.items.includes(item.item)).reduce((sum, item) => sum + item.bytes, 0);
      g.append('rect').attr({y: 20, height: 13, x: x(done), width: x(done + bytes) - x(done)}).style('fill', group.color);
      done += bytes;
    }
    // Behind the line of the capacity where that would run through the text.
    const isNear = row.bytes < answer.capacity && x(answer.capacity) - x(row.bytes) < 80;
    g.append('text').attr({x: x(isNear ? answer.capacity : row.bytes) + 7, y: 31, class: 'value'})
      .text(row.fits ? row.text : `${row.text} \u2717`);
  });
  at.inner.append('line').attr({class: 'limit', x1: x(answer.capacity), x2: x(answer.capacity), y1: -2, y2: rows.length * step});
  at.inner.append('text').attr({class: 'value', x: x(answer.capacity), y: -7, 'text-anchor': 'end'}).text(answer.capacity_text);
  const used = new Set(rows.flatMap((row) => row.items.map((item) => item.item)));
  legend(frame, ITEM_GROUPS.filter((group) => group.items.some((item) => used.has(item))).map((group) => [group.color, group.name]));
  addSave(frame);
}

const WORDS = {hidden_state: 'one hidden state', streams: 'streams', bank: 'bank', embedding: 'embedding',
  phase1_outputs: 'Phase 1 outputs', activations: 'activations', pipeline_blocks: 'received blocks'};

/// Each scheme at the workload where the scenario's own keeps most.
function drawBank(figure, answer) {
  const kept = (row) => row.items.filter((item) => item.item in WORDS);
  const sum = (row) => kept(row).reduce((total, item) => total + item.bytes, 0);
  const own = (answer.memory || []).filter((row) => row.is_own).sort((a, b) => sum(b) - sum(a))[0];
  figure.hidden = !own || sum(own) === 0;
  if (figure.hidden) return;
  const rows = answer.memory.filter((row) => row.workload === own.workload);
  const frame = framed(figure, 'The bank in memory',
    `What each scheme keeps between layers on the fullest device, at ${own.workload}.`);
  bars(frame, rows.map((row) => ({name: `${row.label}: ${kept(row).map((item) => `${WORDS[item.item]} ${item.text}`).join(', ')}`,
    value: sum(row), text: '', color: colorOf(row.scheme), isPale: !row.is_own})),
  'Bytes that each scheme keeps in memory', Math.max(...rows.map(sum)));
  addSave(frame);
}

const TASKS = {forward: ['var(--forward)', 'forward'], recompute: ['var(--recompute)', 'recompute'],
  backward_input: ['var(--backward)', 'backward'], backward_weight: ['var(--gradient)', 'backward, weights']};

function drawTimeline(figure, answer) {
  const timeline = answer.timeline;
  figure.hidden = !timeline;
  if (!timeline) return;
  const some = timeline.num_micro_batches < timeline.all_micro_batches
    ? `${timeline.num_micro_batches} of ${timeline.all_micro_batches} micro-batches are drawn` : `${timeline.num_micro_batches} micro-batches`;
  const frame = framed(figure, 'The pipeline over time',
    `${timeline.schedule}, ${some}. In the whole step a stage does not compute for ${timeline.bubble} of the time.`);
  const step = Math.max(9, Math.min(26, 300 / timeline.num_stages));
  const at = canvas(frame, timeline.num_stages * step + 34, 'Tasks of each pipeline stage over time', {top: 4, right: 12, bottom: 30, left: 34});
  const x = d3.scale.linear().domain([0, timeline.end]).range([0, at.width]);
  // One path for all tasks of a colour: thousands of elements would take longer than the answer.
  const tasks = new Map();
  const gap = step > 12 ? 0.6 : 0.3;
  for (const [stage, kind, virtual, start, end] of timeline.boxes) {
    const key = `${kind} ${virtual % 2}`;
    const width = Math.max(0.3, x(end) - x(start) - gap);
    tasks.set(key, `${tasks.get(key) || ''}M${x(start).toFixed(2)} ${stage * step + 1}h${width.toFixed(2)}v${step - 2}h${-width.toFixed(2)}z`);
  }
  for (const [key, d] of tasks) {
    const [kind, isPale] = key.split(' ');
    at.inner.append('path').attr({d, 'fill-opacity': isPale === '0' ? 1 : 0.5}).style('fill', TASKS[timeline.kinds[kind]][0]);
  }
  const every = Math.ceil(timeline.num_stages / 16);
  for (let stage = 0; stage < timeline.num_stages; stage += every)
    at.inner.append('text').attr({x: -8, y: (stage + 0.5) * step + 4, 'text-anchor': 'end'}).text(stage);
  at.inner.append('text').attr({y: at.height + 20}).text('stage, from the start of the step');
  at.inner.append('text').attr({x: at.width, y: at.height + 20, 'text-anchor': 'end'}).text(timeline.end_text);
  const used = new Set(timeline.boxes.map((box) => timeline.kinds[box[1]]));
  const entries = Object.keys(TASKS).filter((kind) => used.has(kind)).map((kind) => TASKS[kind]);
  if (timeline.boxes.some((box) => box[2] % 2 === 1)) entries.push(['var(--soft)', 'pale: every second virtual stage']);
  legend(frame, entries);
  addSave(frame);
}

const SIZE_MEASURES = {
  decode: ['Decode', 'time', (size) => size.decode && size.decode.delta],
  prefill: ['Prefill', 'time', (size) => size.prefill && size.prefill.delta],
  training: ['Training', 'time', (size) => size.training && size.training.delta],
  state: ['Memory', 'bytes', (size) => ({low: size.state, value: size.state, high: size.state, text: `${size.state_text} a token`})],
  moved: ['Bytes moved', 'bytes', (size) => ({low: size.moved, value: size.moved, high: size.moved, text: `${size.moved_text} a token`})],
};

function drawSizes(figure, answer) {
  const sizes = answer.sizes || [];
  figure.hidden = sizes.length < 2;
  if (figure.hidden) return;
  const offered = Object.entries(SIZE_MEASURES).filter(([, [, , of]]) => sizes.some(of));
  const measure = offered.some(([name]) => name === chosenMeasure.sizes) ? chosenMeasure.sizes : offered[0][0];
  const frame = framed(figure, 'Block size against cost',
    'What Block AttnRes would cost with other blocks. A block of one layer is Full AttnRes.');
  segments(frame, 'cost', offered.map(([name, [text]]) => [name, text]), measure, (value) => {
    chosenMeasure.sizes = value;
    drawSizes(figure, answer);
  });
  const [text, quantity, of] = SIZE_MEASURES[measure];
  const points = sizes.filter(of).map((size) => ({x: size.block_size, isMarked: size.block_size === answer.own, ...of(size)}));
  lineChart(frame, [{label: quantity === 'time' ? `Time added to ${text.toLowerCase()}` : text, color: 'var(--block)', isMain: true, points}],
    {quantity, xName: 'Layers in a block', caption: 'What a block size costs', mark: {x: answer.own, text: `yours: ${answer.own}`}});
  addSave(frame);
}
