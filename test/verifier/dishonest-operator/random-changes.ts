import { contentsOf, type Draft, packed } from './export.js';
import { at, type Json, type JsonRecord, sha256Hex, utf8 } from './primitives.js';

/** Draws numbers below `limit`, the same ones for the same seed (a linear congruential generator). */
export type Draw = (limit: number) => number;

export function drawing(seed: number): Draw {
  let state = seed >>> 0;
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
}

function oneOf<T>(draw: Draw, list: readonly T[]): T {
  return at(list, draw(list.length));
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function isRecord(value: Json): value is JsonRecord {
  return value !== null && typeof value === 'object' && !isList(value);
}

/** Changes one place of a JSON value. */
export function changed(value: Json, draw: Draw): Json {
  if (isList(value)) return changedList(value, draw);
  if (isRecord(value)) return changedRecord(value, draw);
  if (typeof value === 'number')
    return oneOf<Json>(draw, [value + 1, value - 1, 0, -value, value + 0.5, `${value}`, null, 2 ** 53, value * 2]);
  if (typeof value === 'boolean') return oneOf<Json>(draw, [!value, null, 0]);
  if (value === null) return oneOf<Json>(draw, [0, '', 1, {}, []]);
  return changedText(String(value), draw);
}

function changedText(text: string, draw: Draw): Json {
  const otherDigit = text.replace(/\d/, (digit) => String((Number(digit) + 1) % 10));
  const near = [text.slice(1), text.slice(0, -1), `${text}x`, `${text}\n`, ` ${text}`, text.toUpperCase(), otherDigit];
  return oneOf<Json>(draw, [...near, text.replace(/[a-f]/, 'a'), text.replace(/[a-z]/, 'b'), '', null]);
}

function changedList(list: readonly Json[], draw: Draw): Json {
  if (list.length > 0 && draw(3) > 0) {
    const index = draw(list.length);
    return list.map((item, i) => (i === index ? changed(item, draw) : item));
  }
  return oneOf<Json>(draw, [list.slice(0, -1), list.slice(1), [...list, list[0] ?? null], list.toReversed(), []]);
}

function changedRecord(record: JsonRecord, draw: Draw): Json {
  const names = Object.keys(record);
  if (names.length === 0 || draw(8) === 0) return { ...record, note: 1 };
  const name = oneOf(draw, names);
  if (draw(8) === 0) return Object.fromEntries(Object.entries(record).filter(([other]) => other !== name));
  return { ...record, [name]: changed(record[name] ?? null, draw) };
}

/** A package of which one place was changed before the manifest was signed, and what was changed. */
export interface ChangedPackage {
  readonly name: string;
  readonly zip: Uint8Array;
}

/** @param draft of an honest package, which this changes */
export function randomlyChanged(draft: Draft, draw: Draw): ChangedPackage {
  const kind = draw(10);
  if (kind < 3) return changedManifest(draft, draw);
  const files = contentsOf(draft);
  const isLines = kind < 9;
  // A changed time stamp is skipped: it can be open to one verifier and unreadable to the other.
  const names = [...files.keys()].filter((one) => one.endsWith('.ndjson') === isLines && !one.endsWith('.tsr'));
  const name = oneOf(draw, names);
  const content = files.get(name) ?? new Uint8Array();
  return isLines ? changedLine(draft, name, content, draw) : changedByte(draft, name, content, draw);
}

function changedManifest(draft: Draft, draw: Draw): ChangedPackage {
  let name = '';
  const zip = packed(draft, (manifest) => {
    const members = Object.keys(manifest).filter((one) => one !== 'files');
    name = oneOf(draw, members);
    manifest[name] = changed(manifest[name] ?? null, draw);
    name = `manifest: ${name} is ${JSON.stringify(manifest[name])}`;
  });
  return { name, zip };
}

function changedLine(draft: Draft, name: string, content: Uint8Array, draw: Draw): ChangedPackage {
  const lines = new TextDecoder().decode(content).split('\n').slice(0, -1);
  const index = draw(lines.length);
  const line = at(lines, index);
  const how = oneOf(draw, ['left out', 'repeated', 'last', ...Array<string>(7).fill('changed')]);
  if (how === 'left out') lines.splice(index, 1);
  else if (how === 'repeated') lines.splice(index, 0, line);
  else if (how === 'last') lines.push(...lines.splice(index, 1));
  else lines[index] = JSON.stringify(changed(JSON.parse(line), draw));
  draft.files.set(name, utf8(lines.map((one) => `${one}\n`).join('')));
  return { name: `${name}: line ${index} is ${how}: ${lines[index]}`, zip: packed(draft) };
}

function changedByte(draft: Draft, name: string, content: Uint8Array, draw: Draw): ChangedPackage {
  const copy = content.slice();
  const index = draw(copy.length);
  copy[index] = at([...copy], index) ^ (1 << draw(8));
  draft.files.delete(name);
  draft.files.set(name.startsWith('notices/') ? `notices/${sha256Hex(copy)}` : name, copy);
  return { name: `${name}: byte ${index} is changed`, zip: packed(draft) };
}
