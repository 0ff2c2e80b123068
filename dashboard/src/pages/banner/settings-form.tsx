import { useState } from 'react';
import { dataOf } from '../../api/client.js';
import type { ConfigurationDraft } from '../../api/types.js';
import { useApi, useMay } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { ActionForm, type Values } from '../../ui/action-form.js';
import { Checkbox, linesOf, SelectInput, TextInput } from '../../ui/fields.js';
import { LanguageBoxes } from '../../ui/language-boxes.js';
import { Section } from '../../ui/page.js';
import { Facts } from '../../ui/table.js';
import { zoneOptions } from './time-zones.js';
import { useDraftChange } from './use-draft.js';

/** How long a refusal counts. */
const REFUSALS = ['default', 'days', 'never'] as const;
type Refusal = (typeof REFUSALS)[number];

interface SettingsFormProps {
  readonly siteId: string;
  readonly draft: ConfigurationDraft;
}

/** Form for the controller of the site, its languages, its time zone, and the validity of a choice. */
export function SettingsForm({ siteId, draft }: SettingsFormProps) {
  const { banner, common, rules } = useMessages();
  const { languageName, list } = useFormats();
  const api = useApi();
  const mayChange = useMay('changeSites');
  const saved = draft.languages.join();
  const { refusal_days: days } = draft;
  const [refusal, setRefusal] = useState<Refusal>(days === undefined ? 'default' : days === null ? 'never' : 'days');
  const [hasAccounts, setHasAccounts] = useState(draft.accounts !== undefined);
  const [ticked, setTicked] = useState({ saved, languages: draft.languages });
  // What the service has now counts, once it differs from what the ticks began with.
  const languages = ticked.saved === saved ? ticked.languages : draft.languages;
  const change = useDraftChange(siteId, (values: Values, revision) => {
    const text = (name: string) => values.text(name).trim() || null;
    // In the order in which they were ticked: the form has that of the alphabet.
    const all = [...new Set([...languages, ...linesOf(values.text('other_languages'))])];
    const wanted = values.text('default_language');
    return dataOf(
      api.PATCH('/api/v1/sites/{site_id}/configuration', {
        params: { path: { site_id: siteId } },
        body: {
          controller: { legal_name: text('controller.legal_name'), contact: text('controller.contact') },
          languages: all,
          default_language: all.find((one) => one === wanted) ?? all[0] ?? null,
          validity_days: values.number('validity_days'),
          // 0 stands for the default: the service refuses a number of days that is none.
          refusal_days: { default: 0, never: null, days: values.number('refusal_days') || -1 }[refusal],
          time_zone: text('time_zone'),
          accounts: hasAccounts ? { person_space: text('accounts.person_space') } : null,
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
            ...(draft.accounts === undefined
              ? []
              : [
                  [banner.accounts.title, common.yes] as const,
                  [banner.accounts.space, draft.accounts.person_space ?? ''] as const,
                ]),
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
        <LanguageBoxes
          name="languages"
          label={banner.languages}
          others={draft.languages}
          value={languages}
          onChange={(values) => setTicked({ saved, languages: [...values] })}
        />
        <details>
          <summary>{banner.otherLanguages}</summary>
          <TextInput
            key={saved}
            name="other_languages"
            label={banner.languageTags}
            hint={banner.languageTagsHint}
            rows={2}
            isCode
          />
        </details>
        <div className="form-row">
          <SelectInput
            key={draft.default_language}
            name="default_language"
            label={banner.defaultLanguage}
            defaultValue={draft.default_language ?? ''}
            options={languages.map((value) => ({ value, label: languageName(value) }))}
          />
          <TextInput
            name="validity_days"
            type="number"
            label={banner.validity}
            hint={banner.validityHint}
            defaultValue={draft.validity_days === null ? '' : String(draft.validity_days)}
          />
        </div>
        <div className="form-row">
          <SelectInput
            name="refusal"
            label={rules.refusal}
            value={refusal}
            onChange={(value) => setRefusal(REFUSALS.find((one) => one === value) ?? 'default')}
            options={REFUSALS.map((value) => ({ value, label: rules.refusals[value] }))}
          />
          {refusal === 'days' ? (
            <TextInput
              name="refusal_days"
              type="number"
              label={rules.refusalDays}
              defaultValue={typeof days === 'number' ? String(days) : ''}
              isRequired
            />
          ) : null}
        </div>
        <SelectInput
          key={`zone ${draft.time_zone}`}
          name="time_zone"
          label={banner.timeZone}
          hint={banner.timeZoneHint}
          defaultValue={draft.time_zone ?? ''}
          options={zoneOptions(draft.time_zone, banner.noTimeZone)}
        />
        <Checkbox name="service_switches" defaultSelected={draft.service_switches === true}>
          {banner.serviceSwitches}
        </Checkbox>
        <Checkbox
          isSelected={hasAccounts}
          onChange={setHasAccounts}
          hint={
            <>
              {banner.accounts.hint}{' '}
              <a href="/docs/accounts.md" target="_blank" rel="noreferrer">
                {banner.accounts.link}
              </a>
            </>
          }
        >
          {banner.accounts.title}
        </Checkbox>
        {hasAccounts ? (
          <TextInput
            name="accounts.person_space"
            label={banner.accounts.space}
            hint={banner.accounts.spaceHint}
            defaultValue={draft.accounts?.person_space ?? ''}
            maxLength={80}
          />
        ) : null}
      </ActionForm>
    </Section>
  );
}
