/** Text that an event keeps of disclosures, before its encryption (`disclosuresOf`). @param disclosures disclosure strings */
export function keptDisclosures(disclosures: readonly string[]): Buffer {
  return Buffer.from(disclosures.map((text) => Buffer.from(text, 'base64url').toString()).join('\n'));
}
