/**
 * A number with its noun in the singular or plural: `1 record`, `2 records`, `0 entries`.
 * @param many the plural, if it is not the noun with an s
 */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
