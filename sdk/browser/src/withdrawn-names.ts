import type { KnownCategory } from '../../core/answers.js';
import type { ConsentSource } from '../../core/consent.js';

/** Names of the SDK's own cookies and keys, which keep the withdrawal itself. */
const OWN = '_svc_';
/**
 * Minimum number of characters before the first `*` of a pattern. A shorter pattern would match most of what a page
 * stores.
 */
const LEAST_CHARACTERS = 3;

/** The declared categories from which the names are chosen. */
type Declared = Pick<KnownCategory, 'key' | 'required' | 'cookies'>;

/**
 * The names to delete after the visitor's withdrawal: those that `ended` covers and `kept` does not.
 * @param names the names that the page can read
 */
export function coveredBy(
  ended: readonly string[],
  kept: readonly string[],
  names: readonly string[],
): readonly string[] {
  const covers = (patterns: readonly string[], name: string): boolean =>
    patterns.some((pattern) => coversName(pattern, name));
  return names.filter((name) => !name.startsWith(OWN) && covers(ended, name) && !covers(kept, name));
}

/**
 * The declared names and patterns to keep, which belong to required and permitted categories and to permitted services,
 * and those to delete, which are the site's own (`party` is `first`) among the others.
 */
export function declaredOf(
  categories: readonly Declared[],
  consent: Pick<ConsentSource, 'allows' | 'allowsService'>,
): readonly [kept: readonly string[], ended: readonly string[]] {
  const kept: string[] = [];
  const ended: string[] = [];
  for (const { key, required, cookies } of categories) {
    for (const { name, party, service } of cookies) {
      const isAllowed = service === undefined ? consent.allows(key) : consent.allowsService(service);
      if (required || isAllowed) kept.push(name);
      else if (party === 'first' && (name.indexOf('*') < 0 || name.indexOf('*') >= LEAST_CHARACTERS)) ended.push(name);
    }
  }
  return [kept, ended];
}

/** Whether a declared name, in which `*` stands for any characters, covers a name. Takes linear time. */
function coversName(pattern: string, name: string): boolean {
  const [head = '', ...parts] = pattern.split('*');
  const tail = parts.pop();
  if (tail === undefined) return name === head;
  let at = name.startsWith(head) ? head.length : name.length + 1;
  for (const part of parts) {
    const found = name.indexOf(part, at);
    at = found < 0 ? name.length + 1 : found + part.length;
  }
  return name.length - tail.length >= at && name.endsWith(tail);
}
