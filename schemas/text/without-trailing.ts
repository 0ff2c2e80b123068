/**
 * A text without the copies of a character at its end. A pattern such as `/=+$/` tries each run of the
 * character anew from each of its positions, which is quadratic.
 * @param character one UTF-16 unit
 */
export function withoutTrailing(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end -= 1;
  return text.slice(0, end);
}
