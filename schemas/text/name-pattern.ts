/**
 * Returns whether a declared name, in which `*` stands for any characters, covers a name. Takes
 * linear time, because a page chooses the names.
 */
export function coversName(pattern: string, name: string): boolean {
  const [head = '', ...parts] = pattern.split('*');
  const tail = parts.pop();
  if (tail === undefined) return name === pattern;
  if (!name.startsWith(head)) return false;
  let at = head.length;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return name.length - tail.length >= at && name.endsWith(tail);
}
