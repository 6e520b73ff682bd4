// Looks into a WASM module and runs nothing of it. The server gives this script alone the right to compile WASM, and takes the network from it.
self.onmessage = async ({ data }: MessageEvent<ArrayBuffer>) => {
  try {
    const module = await WebAssembly.compile(data);
    self.postMessage({ imports: WebAssembly.Module.imports(module), exports: WebAssembly.Module.exports(module) });
  } catch (e) {
    self.postMessage({ error: e instanceof Error ? e.message : String(e) });
  }
};
