/**
 * Puts a meter into a WebAssembly module: each call and each turn of a loop takes one step from the exported global
 * `steps`, and each copied block of memory as many as it is long. Below zero the module traps.
 *
 * QuickJS asks its interrupt handler only between its own instructions. Its native loops, such as a search through an
 * array of length 2^53, never ask. A trap ends them, too, and no code inside can catch it.
 */

/** Name of the exported global. */
const METER = "steps";
/** A step for every 64 bytes of a copy. */
const COPY_SHIFT = 6;

const SECTION = { type: 1, import: 2, function: 3, global: 6, export: 7, code: 10 } as const;
const I32 = 0x7f;
const OP = {
  unreachable: 0x00,
  block: 0x02,
  loop: 0x03,
  if: 0x04,
  end: 0x0b,
  br: 0x0c,
  brIf: 0x0d,
  brTable: 0x0e,
  call: 0x10,
  callIndirect: 0x11,
  selectTyped: 0x1c,
  localGet: 0x20,
  localSet: 0x21,
  globalGet: 0x23,
  globalSet: 0x24,
  tableSet: 0x26,
  firstLoad: 0x28,
  lastStore: 0x3e,
  memoryGrow: 0x40,
  i32Const: 0x41,
  i64Const: 0x42,
  f32Const: 0x43,
  f64Const: 0x44,
  i32LessThan: 0x48,
  i32Subtract: 0x6b,
  i32ShiftRight: 0x76,
  lastPlain: 0xc4,
  prefixed: 0xfc,
} as const;

interface Section {
  readonly id: number;
  readonly body: Uint8Array;
}

/** @throws {Error} for a module with instructions that it does not know */
export function meterWasm(bytes: Uint8Array): Uint8Array {
  const sections = [...sectionsOf(bytes)];
  const bodyOf = (id: number): Uint8Array => {
    const found = sections.find((section) => section.id === id);
    if (found === undefined) throw new Error(`The module has no section ${id}.`);
    return found.body;
  };
  const parameters = parameterCounts(bodyOf(SECTION.type));
  const { functions, globals: imported } = importedCounts(bodyOf(SECTION.import));
  const types = functionTypes(bodyOf(SECTION.function));
  const meter = imported + new Reader(bodyOf(SECTION.global)).u32();
  if (functions + types.length === 0) throw new Error("The module has no functions.");
  const metered = sections.map(({ id, body }): number[] => {
    switch (id) {
      case SECTION.global:
        return section(id, appended(body, [I32, 1, OP.i32Const, ...signed(0x7fffffff), OP.end]));
      case SECTION.export:
        return section(id, appended(body, [...named(METER), 3, ...unsigned(meter)]));
      case SECTION.code:
        return section(
          id,
          meteredCode(body, meter, (index) => parameters[types[index] ?? -1] ?? 0),
        );
      default:
        return section(id, [...body]);
    }
  });
  return Uint8Array.from([...bytes.subarray(0, 8), ...metered.flat()]);
}

function* sectionsOf(bytes: Uint8Array): Generator<Section> {
  const reader = new Reader(bytes, 8);
  while (!reader.isAtEnd) {
    const id = reader.byte();
    yield { id, body: reader.take(reader.u32()) };
  }
}

/** Returns the number of parameters of each type. */
function parameterCounts(body: Uint8Array): readonly number[] {
  const reader = new Reader(body);
  return Array.from({ length: reader.u32() }, () => {
    if (reader.byte() !== 0x60) throw new Error("A type is no function type.");
    const count = reader.u32();
    reader.take(count);
    reader.take(reader.u32());
    return count;
  });
}

function importedCounts(body: Uint8Array): { readonly functions: number; readonly globals: number } {
  const reader = new Reader(body);
  const counts = { functions: 0, globals: 0 };
  for (let left = reader.u32(); left > 0; left -= 1) {
    reader.take(reader.u32());
    reader.take(reader.u32());
    const kind = reader.byte();
    if (kind === 0) {
      counts.functions += 1;
      reader.u32();
    } else if (kind === 2) {
      const limits = reader.byte();
      reader.u32();
      if ((limits & 1) === 1) reader.u32();
    } else if (kind === 3) {
      counts.globals += 1;
      reader.take(2);
    } else throw new Error(`The module imports something of kind ${kind}.`);
  }
  return counts;
}

function functionTypes(body: Uint8Array): readonly number[] {
  const reader = new Reader(body);
  return Array.from({ length: reader.u32() }, () => reader.u32());
}

function meteredCode(body: Uint8Array, meter: number, parametersOf: (index: number) => number): number[] {
  const reader = new Reader(body);
  const count = reader.u32();
  const written: number[][] = [unsigned(count)];
  for (let index = 0; index < count; index += 1) {
    const metered = meteredFunction(reader.take(reader.u32()), meter, parametersOf(index));
    written.push(unsigned(metered.length), metered);
  }
  return written.flat();
}

function meteredFunction(body: Uint8Array, meter: number, parameters: number): number[] {
  const reader = new Reader(body);
  const groups = reader.u32();
  let locals = parameters;
  for (let group = 0; group < groups; group += 1) {
    locals += reader.u32();
    reader.take(1);
  }
  const check = [OP.globalGet, ...unsigned(meter), OP.i32Const, 0, OP.i32LessThan, OP.if, 0x40].concat(
    OP.unreachable,
    OP.end,
  );
  const take = (amount: readonly number[]): readonly number[] => [
    OP.globalGet,
    ...unsigned(meter),
    ...amount,
    OP.i32Subtract,
    OP.globalSet,
    ...unsigned(meter),
    ...check,
  ];
  const step = take([OP.i32Const, 1]);
  const length = unsigned(locals);
  const copy = [
    OP.localSet,
    ...length,
    ...take([OP.localGet, ...length, OP.i32Const, COPY_SHIFT, OP.i32ShiftRight]),
    OP.localGet,
    ...length,
  ];
  const head = [...unsigned(groups + 1), ...body.subarray(unsigned(groups).length, reader.place), 1, I32];
  const code: number[] = [...step];
  while (!reader.isAtEnd) {
    const from = reader.place;
    const op = reader.byte();
    const isCopy = skipImmediates(reader, op);
    if (isCopy) code.push(...copy);
    for (const byte of body.subarray(from, reader.place)) code.push(byte);
    if (op === OP.loop) code.push(...step);
  }
  return [...head, ...code];
}

/** Reads the rest of an instruction. Returns whether it copies or fills a block of memory. */
function skipImmediates(reader: Reader, op: number): boolean {
  if (op === OP.block || op === OP.loop || op === OP.if) reader.leb();
  else if (op === OP.br || op === OP.brIf || op === OP.call) reader.u32();
  else if (op === OP.brTable) for (let left = reader.u32(); left >= 0; left -= 1) reader.u32();
  else if (op === OP.callIndirect) {
    reader.u32();
    reader.u32();
  } else if (op === OP.selectTyped) reader.take(reader.u32());
  else if (op >= OP.localGet && op <= OP.tableSet) reader.u32();
  else if (op >= OP.firstLoad && op <= OP.lastStore) {
    reader.u32();
    reader.leb();
  } else if (op > OP.lastStore && op <= OP.memoryGrow) reader.u32();
  else if (op === OP.i32Const || op === OP.i64Const) reader.leb();
  else if (op === OP.f32Const) reader.take(4);
  else if (op === OP.f64Const) reader.take(8);
  else if (op === OP.prefixed) return skipPrefixed(reader);
  else if (op > OP.lastPlain) throw new Error(`The instruction ${op} is not known.`);
  return false;
}

function skipPrefixed(reader: Reader): boolean {
  const op = reader.u32();
  if (op <= 7) return false;
  if (op === 10) reader.take(2);
  else if (op === 11) reader.take(1);
  else throw new Error(`The instruction ${OP.prefixed} ${op} is not known.`);
  return true;
}

/** Reads the bytes of a module. */
class Reader {
  readonly #bytes: Uint8Array;
  #place: number;

  constructor(bytes: Uint8Array, place = 0) {
    this.#bytes = bytes;
    this.#place = place;
  }

  get place(): number {
    return this.#place;
  }

  get isAtEnd(): boolean {
    return this.#place >= this.#bytes.length;
  }

  byte(): number {
    const byte = this.#bytes[this.#place];
    if (byte === undefined) throw new Error("The module ends too early.");
    this.#place += 1;
    return byte;
  }

  take(count: number): Uint8Array {
    const from = this.#place;
    this.#place += count;
    return this.#bytes.subarray(from, this.#place);
  }

  u32(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.byte();
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }

  /** Skips a number of any length. */
  leb(): void {
    while (this.byte() >= 0x80);
  }
}

function section(id: number, body: readonly number[]): number[] {
  return [id, ...unsigned(body.length)].concat(body);
}

/** Adds an entry to a list whose length comes first. */
function appended(body: Uint8Array, entry: readonly number[]): number[] {
  const reader = new Reader(body);
  const count = reader.u32();
  return [...unsigned(count + 1), ...body.subarray(reader.place), ...entry];
}

function named(name: string): number[] {
  const bytes = [...new TextEncoder().encode(name)];
  return [...unsigned(bytes.length), ...bytes];
}

function unsigned(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) + 128);
  }
}

function signed(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>= 7) {
    const low = rest & 0x7f;
    if ((rest >> 7 === 0 && low < 0x40) || (rest >> 7 === -1 && low >= 0x40)) return [...bytes, low];
    bytes.push(low | 0x80);
  }
}
