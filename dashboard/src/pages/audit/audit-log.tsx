import { useState } from 'react';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { ActionForm } from '../../ui/action-form.js';
import { SelectInput } from '../../ui/fields.js';
import { Loaded, More } from '../../ui/loaded.js';
import { Page, Section } from '../../ui/page.js';
import { Table } from '../../ui/table.js';
import { Time } from '../../ui/time.js';
import { usePages } from '../../ui/use-pages.js';
import { useEmails } from './use-emails.js';

/** The audit log of the organisation. */
export function AuditLog() {
  const { audit, consents, common } = useMessages();
  const api = useApi();
  const emailOf = useEmails();
  const { locale } = useFormats();
  const [action, setAction] = useState('');
  const options = [
    { value: '', label: audit.allActions },
    ...Object.entries(audit.actions)
      .map(([value, label]) => ({ value, label }))
      .toSorted((a, b) => a.label.localeCompare(b.label, locale)),
  ];
  const query = usePages(['audit-log', action], (cursor) =>
    api.GET('/api/v1/audit-log', {
      params: { query: { limit: 50, cursor, ...(action !== '' && { action }) } },
    }),
  );
  return (
    <Page title={audit.title} lead={audit.lead}>
      <Section title={audit.list}>
        <ActionForm submit={consents.apply} isInline action={async (values) => setAction(values.text('action'))}>
          <SelectInput name="action" label={audit.filterAction} options={options} />
        </ActionForm>
        <Loaded query={query}>
          {(items) =>
            items.length === 0 ? (
              <p>{audit.none}</p>
            ) : (
              <Table
                label={audit.list}
                items={items}
                keyOf={({ seq }) => String(seq)}
                columns={[
                  { label: common.time, cell: ({ at }) => <Time at={at} /> },
                  {
                    label: audit.action,
                    phone: 'short',
                    cell: (entry) => (
                      <>
                        {audit.actions[entry.action] ?? null} <code className="hint">{entry.action}</code>
                      </>
                    ),
                  },
                  {
                    label: audit.actor,
                    cell: ({ actor }) =>
                      actor.user_id === null ? audit.actors[actor.kind] : (emailOf(actor.user_id) ?? audit.actors.user),
                  },
                  {
                    label: audit.subject,
                    phone: 'short',
                    cell: ({ subject }) => (
                      <>
                        {audit.kinds[subject.kind] ?? subject.kind} <code>{emailOf(subject.id) ?? subject.id}</code>
                      </>
                    ),
                  },
                  {
                    label: audit.details,
                    phone: 'top',
                    cell: ({ details }) =>
                      Object.keys(details).length === 0 ? (
                        ''
                      ) : (
                        <details>
                          <summary>{audit.details}</summary>
                          <code>{JSON.stringify(details)}</code>
                        </details>
                      ),
                  },
                ]}
              />
            )
          }
        </Loaded>
        <More query={query} />
      </Section>
    </Page>
  );
}
