import { find } from './elements.js';

/** Gives a file to the verifier, as if the reader had chosen it. */
export function chooseFile(file: File): void {
  const chosen = new DataTransfer();
  chosen.items.add(file);
  const input = find('package', HTMLInputElement);
  input.files = chosen.files;
  input.dispatchEvent(new Event('change'));
}
