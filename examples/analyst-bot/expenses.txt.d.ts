declare const source: string;
export default source;
