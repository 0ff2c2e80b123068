import { decodeDisclosure } from '../../schemas/evidence/disclosure.js';
import { EntryLine, PACKAGE_FILES } from '../../schemas/evidence/package-lines.js';
import { readPackage } from './alter-package.js';

/** Counts the occurrences of these values in a package, in plain text or in a disclosure. */
export async function personalValuesIn(path: string, values: readonly string[]): Promise<number> {
  const files = await readPackage(path);
  let found = 0;
  for (const content of files.values()) {
    const text = content.toString('utf8');
    found += values.filter((value) => text.includes(value)).length;
  }
  const lines = files.get(PACKAGE_FILES.entries)?.toString('utf8').split('\n') ?? [];
  for (const line of lines) {
    if (line === '') continue;
    for (const disclosure of EntryLine.parse(JSON.parse(line)).disclosures) {
      const value = JSON.stringify(decodeDisclosure(disclosure)?.value ?? null);
      if (values.some((personal) => value.includes(personal))) found += 1;
    }
  }
  return found;
}
