import * as z from 'zod';
import { keptLine } from '../../schemas/events/kept-disclosures.js';

const Named = z.tuple([z.string(), z.string()], z.unknown());

/** Text that an event keeps of disclosures, before its encryption (`disclosuresOf`). @param disclosures disclosure strings */
export function keptDisclosures(disclosures: readonly string[]): Buffer {
  const lines = disclosures.map((text): [name: string, line: string] => {
    const json = Buffer.from(text, 'base64url').toString();
    const [salt, name] = Named.parse(JSON.parse(json));
    return [name, keptLine(salt, json.slice(`["${salt}","${name}",`.length, -1))];
  });
  return Buffer.from(
    lines
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, line]) => line)
      .join('\n'),
  );
}
