import { dataOf } from '../../api/client.js';
import type { ConfigurationDraft } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { ActionForm, type Values } from '../../ui/action-form.js';
import { Checkbox, TextInput } from '../../ui/fields.js';
import { Section } from '../../ui/page.js';
import { Facts } from '../../ui/table.js';
import { useDraftChange } from './use-draft.js';

interface SettingsFormProps {
  readonly siteId: string;
  readonly draft: ConfigurationDraft;
}

/** Form for the controller of the site, its languages, and the validity of a choice. */
export function SettingsForm({ siteId, draft }: SettingsFormProps) {
  const { banner, common } = useMessages();
  const { languageName, list } = useFormats();
  const api = useApi();
  const mayChange = useMay('changeSites');
  const change = useDraftChange(siteId, (values: Values, revision) => {
    const text = (name: string) => values.text(name).trim() || null;
    const languages = values
      .text('languages')
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== '');
    return dataOf(
      api.PATCH('/api/v1/sites/{site_id}/configuration', {
        params: { path: { site_id: siteId } },
        body: {
          controller: { legal_name: text('controller.legal_name'), contact: text('controller.contact') },
          languages,
          default_language: text('default_language') ?? languages[0] ?? null,
          validity_days: values.number('validity_days'),
          ...((values.isTicked('service_switches') || draft.service_switches !== undefined) && {
            service_switches: values.isTicked('service_switches'),
          }),
          revision,
        },
      }),
    );
  });
  if (!mayChange) {
    return (
      <Section title={banner.settings}>
        <Facts
          items={[
            [banner.legalName, draft.controller.legal_name ?? ''],
            [banner.contact, draft.controller.contact ?? ''],
            [banner.languages, list(draft.languages.map(languageName))],
          ]}
        />
      </Section>
    );
  }
  return (
    <Section title={banner.settings}>
      <ActionForm submit={common.save} action={change} done={common.saved}>
        <TextInput
          name="controller.legal_name"
          label={banner.legalName}
          defaultValue={draft.controller.legal_name ?? ''}
          isRequired
        />
        <TextInput
          name="controller.contact"
          label={banner.contact}
          defaultValue={draft.controller.contact ?? ''}
          isRequired
        />
        <div className="form-row">
          <TextInput
            name="languages"
            label={banner.languages}
            hint={banner.languagesHint}
            defaultValue={draft.languages.join(', ')}
            isRequired
          />
          <TextInput
            key={draft.default_language}
            name="default_language"
            label={banner.defaultLanguage}
            hint={banner.defaultLanguageHint}
            defaultValue={draft.default_language ?? ''}
          />
          <TextInput
            name="validity_days"
            type="number"
            label={banner.validity}
            hint={banner.validityHint}
            defaultValue={draft.validity_days === null ? '' : String(draft.validity_days)}
          />
        </div>
        <Checkbox name="service_switches" defaultSelected={draft.service_switches === true}>
          {banner.serviceSwitches}
        </Checkbox>
      </ActionForm>
    </Section>
  );
}
