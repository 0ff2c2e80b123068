import { useQuery } from '@tanstack/react-query';
import { allPages, answerOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { useSites } from '../../shell/use-sites.js';
import { ActionForm } from '../../ui/action-form.js';
import { Button } from '../../ui/button.js';
import { dayBefore } from '../../ui/days.js';
import { SelectInput, TextInput } from '../../ui/fields.js';
import { type AuditFilters, NO_FILTERS } from './filters.js';

interface FilterFormProps {
  readonly filters: AuditFilters;
  readonly onChange: (filters: AuditFilters) => void;
}

/** The filters of the audit log. */
export function FilterForm({ filters, onChange }: FilterFormProps) {
  const { audit, consents } = useMessages();
  const { locale } = useFormats();
  const { data: sites = [] } = useSites();
  const users = useUsers();
  const byLabel = (a: { readonly label: string }, b: { readonly label: string }) =>
    a.label.localeCompare(b.label, locale);
  return (
    // On a phone it would fill the first screen.
    <details open={matchMedia('(min-width: 46rem)').matches}>
      <summary>{consents.filters}</summary>
      <ActionForm
        submit={consents.apply}
        isInline
        action={async (values) =>
          onChange({
            from: values.text('from'),
            to: values.text('to'),
            action: values.text('action'),
            actor: values.text('actor'),
            site: values.text('site_id'),
            words: values.text('words').trim(),
          })
        }
      >
        <TextInput name="words" type="search" label={audit.words} defaultValue={filters.words} autoComplete="off" />
        <TextInput name="from" type="date" label={consents.from} defaultValue={filters.from} />
        <TextInput name="to" type="date" label={consents.to} defaultValue={filters.to} />
        <SelectInput
          name="action"
          label={audit.filterAction}
          defaultValue={filters.action}
          options={[
            { value: '', label: audit.allActions },
            ...Object.entries(audit.actions)
              .map(([value, label]) => ({ value, label }))
              .toSorted(byLabel),
          ]}
        />
        <SelectInput
          name="actor"
          label={audit.actor}
          defaultValue={filters.actor}
          options={[
            { value: '', label: audit.allActors },
            ...users.map(({ id, email }) => ({ value: id, label: email })).toSorted(byLabel),
            { value: 'operator', label: audit.actors.operator },
            { value: 'service', label: audit.actors.service },
          ]}
        />
        <SelectInput
          name="site_id"
          label={audit.site}
          defaultValue={filters.site}
          options={[{ value: '', label: audit.allSites }, ...sites.map(({ id, name }) => ({ value: id, label: name }))]}
        />
        <Button onPress={() => onChange({ ...filters, from: dayBefore(6), to: '' })}>{audit.lastWeek}</Button>
        {filters === NO_FILTERS ? null : <Button onPress={() => onChange(NO_FILTERS)}>{consents.clear}</Button>}
      </ActionForm>
    </details>
  );
}

/** The users of the organisation, with those who were disabled. */
function useUsers() {
  const api = useApi();
  const { data = [] } = useQuery({
    queryKey: ['users', 'all'],
    queryFn: () =>
      allPages((cursor) => answerOf(api.GET('/api/v1/users', { params: { query: { limit: 100, cursor } } }))),
  });
  return data;
}
