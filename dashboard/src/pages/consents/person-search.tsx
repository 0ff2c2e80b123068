import { useState } from 'react';
import type { PersonReference } from '../../api/types.js';
import { useMessages } from '../../i18n/locale.js';
import { ActionForm } from '../../ui/action-form.js';
import { SelectInput, TextInput } from '../../ui/fields.js';
import { Section } from '../../ui/page.js';
import { ReasonInput } from './reason.js';

/** What a person can be known by. */
export const BY = ['visitor_id', 'signer_email', 'signer_phone', 'signer_id_number'] as const;

/** Asks for the person whose records are searched. */
export function PersonSearch({
  onSearch,
}: {
  readonly onSearch: (person: PersonReference, reason: string) => Promise<void>;
}) {
  const { consents } = useMessages();
  const [value, setValue] = useState('');
  return (
    <Section title={consents.person} lead={consents.personLead}>
      <ActionForm
        submit={consents.search}
        isInline
        action={async (values) => {
          const by = BY.find((one) => one === values.text('by')) ?? 'visitor_id';
          await onSearch({ by, value: value.trim() }, values.text('reason'));
        }}
      >
        <SelectInput
          name="by"
          label={consents.by}
          options={BY.map((one) => ({ value: one, label: consents.bys[one] }))}
        />
        <TextInput
          name="value"
          label={consents.value}
          value={value}
          onChange={setValue}
          autoComplete="off"
          isRequired
        />
        <ReasonInput about={value.trim()} />
      </ActionForm>
    </Section>
  );
}
