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

  call(name, ...texts) {
    const {module} = this;
    const pointers = texts.map((text) => {
      const length = module.lengthBytesUTF8(text) + 1;
      const pointer = module._malloc(length);
      module.stringToUTF8(text, pointer, length);
      return pointer;
    });
    try {
      const start = module[`_depthcost_${name}`](...pointers);
      const end = module.HEAPU8.indexOf(0, start);
      return new TextDecoder().decode(module.HEAPU8.subarray(start, end));
    } finally {
      pointers.forEach((pointer) => module._free(pointer));
    }
  }

  /// The whole text of `depthcost evaluate --format json`, or {"error": ...}.
  evaluation(scenario, file) { return this.call('evaluate', scenario, file); }

  choices() { return this.json('choices'); }
  imported(config, file) { return this.json('import', config, file); }
  answer(scenario, file) { return this.json('answer', scenario, file); }
  blockSizes(scenario, file) { return this.json('block_sizes', scenario, file); }
  markdown(scenario, file) { return this.call('markdown', scenario, file); }

  json(name, ...texts) { return JSON.parse(this.call(name, ...texts)); }
}

if (typeof module !== 'undefined') module.exports = {Engine};
