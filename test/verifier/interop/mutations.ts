import type { Files } from '../../support/package-builder.js';
import { at, type Json, utf8 } from '../dishonest-operator/primitives.js';
import { changed, type Draw } from '../dishonest-operator/random-changes.js';

/** What a mutation did, for people. */
export type Mutated = { name: string };

/**
 * A change of one place of the files of a package, before the manifest lists and signs them. Time stamps stay
 * as they are: what openssl reads in a changed one is not what this is about.
 */
export function mutation(draw: Draw, did: Mutated): (files: Files) => void {
  return (files) => {
    const names = [...files.keys()].filter((name) => !/\.(?:tsr|cer|crl|ors)$/.test(name)).toSorted();
    const lines = names.filter((name) => name.endsWith('.ndjson'));
    const name = draw(5) === 0 ? at(names, draw(names.length)) : at(lines, draw(lines.length));
    const content = files.get(name) ?? new Uint8Array();
    did.name = name;
    files.set(name, name.endsWith('.ndjson') ? changedLines(content, draw, did) : changedBytes(content, draw));
  };
}

function changedLines(content: Uint8Array, draw: Draw, did: Mutated): Uint8Array {
  const lines = new TextDecoder().decode(content).split('\n').slice(0, -1);
  if (lines.length === 0) return utf8('{}\n');
  const index = draw(lines.length);
  const line = at(lines, index);
  const how = draw(12);
  if (how === 0) lines.splice(index, 1);
  else if (how === 1) lines.splice(index, 0, line);
  else if (how === 2) lines.push(...lines.splice(index, 1));
  else lines[index] = changedLine(line, draw, how < 5);
  did.name += `: line ${index} is now ${lines[index]}`;
  return utf8(lines.map((one) => `${one}\n`).join(''));
}

/** @param isWithin whether the text in the first member, such as an entry or a header, is changed if there is one */
function changedLine(line: string, draw: Draw, isWithin: boolean): string {
  const value = parsed(line);
  if (value === undefined) return `${line} `;
  const inner = isWithin && typeof value === 'object' && value !== null ? Object.entries(value)[0] : undefined;
  const text = typeof inner?.[1] === 'string' && inner[1].startsWith('{') ? parsed(inner[1]) : undefined;
  if (inner === undefined || text === undefined) return JSON.stringify(changed(value, draw));
  return JSON.stringify({
    ...Object.fromEntries(Object.entries(value ?? {})),
    [inner[0]]: JSON.stringify(changed(text, draw)),
  });
}

/** @returns undefined for what is no JSON, as some cases have it */
function parsed(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function changedBytes(content: Uint8Array, draw: Draw): Uint8Array {
  if (content.length === 0) return Uint8Array.of(draw(256));
  const copy = content.slice();
  const index = draw(copy.length);
  copy[index] = (copy[index] ?? 0) ^ (1 << draw(8));
  return draw(4) === 0 ? copy.slice(0, index) : copy;
}
