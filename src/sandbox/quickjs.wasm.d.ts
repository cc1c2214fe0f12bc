/** QuickJS with a meter. `npm run meter` makes it. */
declare const quickjs: WebAssembly.Module;
export default quickjs;
