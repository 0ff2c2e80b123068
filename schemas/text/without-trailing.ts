/**
 * Removes the copies of a character at the end of a text. A pattern such as `/=+$/` is quadratic, because it retries
 * each run of the character from each of its positions.
 * @param character one UTF-16 unit
 */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
