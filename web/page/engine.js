// The model in WebAssembly: texts in, texts out.
'use strict';

/// What the page can do without: no sentence means that the model runs.
function missingFeature() {
  if (typeof WebAssembly !== 'object') return 'This browser has no WebAssembly, or it is switched off.';
  if (typeof DecompressionStream !== 'function') return 'This browser is too old to unpack the model.';
  return '';
}

class Engine {
  constructor(module) { this.module = module; }

  /// From the bytes of engine.wasm.
  static async start(wasmBinary) { return new Engine(await DepthcostEngine({wasmBinary})); }

  /// `words`: texts, or bytes, behind which their number is passed.
  call(name, ...words) {
    const {module} = this;
    const pointers = [];
    const passed = words.flatMap((word) => {
      const isText = typeof word === 'string';
      const bytes = isText ? new TextEncoder().encode(word) : word;
      const pointer = module._malloc(bytes.length + 1);
      module.HEAPU8.set(bytes, pointer);
      module.HEAPU8[pointer + bytes.length] = 0;
      pointers.push(pointer);
      return isText ? [pointer] : [pointer, bytes.length];
    });
    try {
      const start = module[`_depthcost_${name}`](...passed);
      const end = module.HEAPU8.indexOf(0, start);
      return new TextDecoder().decode(module.HEAPU8.subarray(start, end));
    } finally {
      pointers.forEach((pointer) => module._free(pointer));
    }
  }

  /// The whole text of `depthcost evaluate --format json`, or {"error": ...}.
  evaluation(scenario, file) { return this.call('evaluate', scenario, file); }

  choices() { return this.json('choices'); }
  /// `config`: the bytes of a file, whatever they are.
  imported(config, file) { return this.json('import', config, file); }
  answer(scenario, file) { return this.json('answer', scenario, file); }
  blockSizes(scenario, file) { return this.json('block_sizes', scenario, file); }
  markdown(scenario, file) { return this.call('markdown', scenario, file); }

  json(name, ...words) { return JSON.parse(this.call(name, ...words)); }
}

if (typeof module !== 'undefined') module.exports = {Engine};
