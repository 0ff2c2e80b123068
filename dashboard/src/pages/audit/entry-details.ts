import type { AuditEntry } from '../../api/types.js';
import type { Messages } from '../../i18n/messages.js';

/** A fact of an entry as the page shows it. */
export type Fact =
  | { readonly name: string; readonly kind: 'value'; readonly text: string }
  | { readonly name: string; readonly kind: 'change'; readonly before: string; readonly after: string };

/** Members that the page shows elsewhere. */
const ELSEWHERE: ReadonlySet<string> = new Set(['site_id']);

/** The names of the values of a member, in the language of the reader. */
function namesOf(member: string, { audit, consents, documents, erasures, shell }: Messages) {
  const names: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    by: { ...consents.bys, ...erasures.reasons },
    changed: audit.members,
    fields: consents.fields,
    kind: documents.kinds,
    role: shell.roles,
  };
  return names[member] ?? {};
}

/** The name of a member of the details in words. */
export function nameOf(member: string, members: Readonly<Record<string, string>>): string {
  return members[member] ?? member.replaceAll('_', ' ');
}

/** The facts of an entry, with a change as its values before and after. The reason comes first. */
export function factsOf({ details }: Pick<AuditEntry, 'details'>, messages: Messages): readonly Fact[] {
  return (
    Object.entries(details)
      // That something was changed is what the action says.
      .filter(([name, value]) => !ELSEWHERE.has(name) && !(name === 'changed' && value === true))
      .toSorted(([one], [other]) => Number(other === 'reason') - Number(one === 'reason'))
      .map(([name, value]) => {
        const text = (one: unknown) => textOf(one, name, messages);
        return isChange(value)
          ? { name, kind: 'change', before: text(value.before), after: text(value.after) }
          : { name, kind: 'value', text: text(value) };
      })
  );
}

function isChange(value: unknown): value is { readonly before: unknown; readonly after: unknown } {
  return typeof value === 'object' && value !== null && 'before' in value && 'after' in value;
}

function textOf(value: unknown, member: string, messages: Messages): string {
  const { audit, common } = messages;
  if (value === null || value === '' || (member === 'changed' && value === false)) return audit.nothing;
  if (typeof value === 'boolean') return value ? common.yes : common.no;
  if (Array.isArray(value))
    return value.length === 0 ? audit.nothing : value.map((one: unknown) => textOf(one, member, messages)).join(', ');
  if (typeof value === 'string') return namesOf(member, messages)[value] ?? value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
