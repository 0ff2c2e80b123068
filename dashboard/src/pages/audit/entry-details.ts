import type { AuditEntry } from '../../api/types.js';

/** A fact of an entry as the page shows it. */
export type Fact =
  | { readonly name: string; readonly kind: 'value'; readonly text: string }
  | { readonly name: string; readonly kind: 'change'; readonly before: string; readonly after: string };

/** Members that the page shows elsewhere. */
const ELSEWHERE: ReadonlySet<string> = new Set(['site_id']);

interface Words {
  readonly yes: string;
  readonly no: string;
  readonly nothing: string;
}

/** The facts of an entry, with a change as its values before and after. The reason comes first. */
export function factsOf({ details }: Pick<AuditEntry, 'details'>, words: Words): readonly Fact[] {
  return Object.entries(details)
    .filter(([name]) => !ELSEWHERE.has(name))
    .toSorted(([one], [other]) => Number(other === 'reason') - Number(one === 'reason'))
    .map(([name, value]) =>
      isChange(value)
        ? { name, kind: 'change', before: textOf(value.before, words), after: textOf(value.after, words) }
        : { name, kind: 'value', text: textOf(value, words) },
    );
}

function isChange(value: unknown): value is { readonly before: unknown; readonly after: unknown } {
  return typeof value === 'object' && value !== null && 'before' in value && 'after' in value;
}

function textOf(value: unknown, words: Words): string {
  if (value === null || value === '') return words.nothing;
  if (typeof value === 'boolean') return value ? words.yes : words.no;
  if (Array.isArray(value))
    return value.length === 0 ? words.nothing : value.map((one: unknown) => textOf(one, words)).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
