import { find } from './elements.js';

/** Gives files to the verifier, as if the reader had chosen them in the field with this id. */
export function chooseFiles(id: 'package' | 'roots', files: readonly File[]): void {
  const chosen = new DataTransfer();
  for (const file of files) chosen.items.add(file);
  const input = find(id, HTMLInputElement);
  input.files = chosen.files;
  input.dispatchEvent(new Event('change'));
}
