import { useState } from 'react';
import { useFormats, useMessages } from '../../i18n/locale.js';
import type { Messages } from '../../i18n/messages.js';
import { Button } from '../../ui/button.js';
import { csvOf } from '../../ui/csv.js';
import { useFailureText } from '../../ui/failure-text.js';
import { saveAs } from '../../ui/save-as.js';
import { siteOf } from './entry-cells.js';
import { factsOf, nameOf } from './entry-details.js';
import type { AuditFilters } from './filters.js';
import { type NamedEntry, useAllEntries } from './use-entries.js';

/** Saves the entries that match as a CSV file, and says how many it has. */
export function SaveEntries({ filters }: { readonly filters: AuditFilters }) {
  const messages = useMessages();
  const { audit } = messages;
  const { number } = useFormats();
  const failureText = useFailureText();
  const read = useAllEntries(filters);
  const [told, setTold] = useState('');
  const [isBusy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    setTold('');
    try {
      const { entries, isMore } = await read();
      const csv = csvOf([Object.values(audit.columns), ...entries.map((one) => rowOf(one, messages))]);
      saveAs('audit-log.csv', new Blob([csv], { type: 'text/csv' }));
      setTold(audit.saved(number(entries.length), isMore));
    } catch (error) {
      setTold(failureText(error));
    }
    setBusy(false);
  };
  return (
    <div className="actions">
      <span role="status" className="hint">
        {told}
      </span>
      <Button onPress={save} isBusy={isBusy}>
        {audit.save}
      </Button>
    </div>
  );
}

/** The cells of an entry, in the order of `audit.columns`. */
function rowOf(one: NamedEntry, messages: Messages): readonly string[] {
  const { audit } = messages;
  const { entry, named } = one;
  const { actor, subject } = entry;
  const facts = factsOf(entry, messages);
  const { reason } = entry.details;
  return [
    entry.at,
    audit.actions[entry.action] ?? entry.action,
    entry.action,
    actor.user_id === null ? audit.actors[actor.kind] : (named.get(actor.user_id)?.name ?? actor.user_id),
    audit.kinds[subject.kind] ?? subject.kind,
    named.get(subject.id)?.name ?? '',
    subject.id,
    siteOf(one)?.name ?? '',
    typeof reason === 'string' ? reason : '',
    facts
      .filter(({ name }) => name !== 'reason')
      .map((fact) => {
        const value = fact.kind === 'change' ? `${fact.before} → ${fact.after}` : fact.text;
        return `${nameOf(fact.name, audit.members)}: ${value}`;
      })
      .join('\n'),
  ];
}
