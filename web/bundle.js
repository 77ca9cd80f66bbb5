// node bundle.js ENGINE_JS ENGINE_WASM D3 OUTPUT: one file with everything in it.
'use strict';

const fs = require('fs');
const path = require('path');
const zlib = require('zlib');

const [engineJs, engineWasm, d3, output] = process.argv.slice(2);
const own = (name) => fs.readFileSync(path.join(__dirname, 'page', name), 'utf8');
const scripts = [fs.readFileSync(d3, 'utf8'), fs.readFileSync(engineJs, 'utf8'),
  ...['engine.js', 'scenario.js', 'charts.js', 'page.js'].map(own)];
const parts = {
  style: own('style.css'),
  engine: zlib.gzipSync(fs.readFileSync(engineWasm), {level: 9}).toString('base64'),
  // "</script" would end the element, wherever it stands.
  scripts: scripts.join('\n').replace(/<\/script/gi, '<\\/script'),
};
const html = own('index.html').replace(/{{(\w+)}}/g, (_, name) => parts[name]);
fs.writeFileSync(output, html);
