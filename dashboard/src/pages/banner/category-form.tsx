import { answerOf } from '../../api/client.js';
import type { Category, ConfigurationDraft } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { ActionForm, type Values } from '../../ui/action-form.js';
import { Checkbox, linesOf, SelectInput, TextInput } from '../../ui/fields.js';
import { ServiceFields, servicesIn } from './service-fields.js';
import { textsIn } from './texts-in.js';
import { useDraftChange } from './use-draft.js';

const BASES = ['consent', 'contract', 'legal_obligation', 'legitimate_interest'] as const;

interface CategoryFormProps {
  readonly siteId: string;
  readonly draft: ConfigurationDraft;
  /** Null for a new one. */
  readonly category: Category | null;
  readonly onClose: () => void;
}

/** Adds or changes a category of the draft. */
export function CategoryForm({ siteId, draft, category, onClose }: CategoryFormProps) {
  const { banner, common } = useMessages();
  const { languageName } = useFormats();
  const api = useApi();
  const known = category?.services ?? [];
  const save = useDraftChange(siteId, (values: Values, revision) => {
    const services = servicesIn(values, known);
    const members = {
      required: values.isTicked('required'),
      title: textsIn(values, 'title', draft.languages),
      purpose: textsIn(values, 'purpose', draft.languages),
      lawful_basis: BASES.find((basis) => basis === values.text('lawful_basis')) ?? 'consent',
      personal_data: linesOf(values.text('personal_data')),
      recipients: linesOf(values.text('recipients')),
      retention_days: values.number('retention_days'),
      ...(services !== undefined && { services }),
      revision,
    };
    return category === null
      ? answerOf(
          api.POST('/api/v1/sites/{site_id}/categories', {
            params: { path: { site_id: siteId } },
            body: { key: values.text('key').trim(), ...members },
          }),
        )
      : answerOf(
          api.PATCH('/api/v1/sites/{site_id}/categories/{category_key}', {
            params: { path: { site_id: siteId, category_key: category.key } },
            body: members,
          }),
        );
  });
  return (
    <ActionForm
      submit={common.save}
      onCancel={onClose}
      action={async (values) => {
        await save(values);
        onClose();
      }}
    >
      {category === null ? <TextInput name="key" label={banner.key} hint={banner.keyHint} isRequired isCode /> : null}
      {draft.languages.map((language) => (
        <div key={language} className="form-row">
          <TextInput
            name={`title.${language}`}
            label={banner.titleIn(languageName(language))}
            defaultValue={category?.title[language] ?? ''}
            isRequired
          />
          <TextInput
            name={`purpose.${language}`}
            label={banner.purposeIn(languageName(language))}
            defaultValue={category?.purpose[language] ?? ''}
            isRequired
          />
        </div>
      ))}
      <Checkbox name="required" defaultSelected={category?.required ?? false}>
        {banner.required}
      </Checkbox>
      <SelectInput
        name="lawful_basis"
        label={banner.basis}
        defaultValue={category?.lawful_basis ?? 'consent'}
        options={BASES.map((value) => ({ value, label: banner.bases[value] }))}
      />
      <div className="form-row">
        <TextInput
          name="personal_data"
          label={banner.personalData}
          hint={banner.personalDataHint}
          defaultValue={category?.personal_data.join('\n') ?? ''}
          rows={3}
        />
        <TextInput
          name="recipients"
          label={banner.recipients}
          hint={banner.recipientsHint}
          defaultValue={category?.recipients.join('\n') ?? ''}
          rows={3}
        />
      </div>
      <TextInput
        name="retention_days"
        type="number"
        label={banner.retention}
        hint={banner.retentionHint}
        defaultValue={category?.retention_days?.toString() ?? ''}
      />
      <ServiceFields services={known} />
    </ActionForm>
  );
}
