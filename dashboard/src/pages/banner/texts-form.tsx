import { type Api, answerOf, dataOf } from '../../api/client.js';
import type { ConfigurationDraft } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { ActionForm, type Values } from '../../ui/action-form.js';
import { SelectInput, TextInput } from '../../ui/fields.js';
import { Notice } from '../../ui/notice.js';
import { Section } from '../../ui/page.js';
import { Facts } from '../../ui/table.js';
import { defaultsIn } from './default-texts.js';
import type { Defaults } from './use-defaults.js';
import { useDraftChange } from './use-draft.js';

/** Texts that the banner of the SDK shows. Those after the second have usual words. */
const NAMES = ['title', 'text', 'accept', 'reject', 'settings', 'save'] as const;
const WITHOUT_USUAL_WORD: readonly string[] = ['title', 'text'];

/** Texts by their names; `withdrawal` is the one that says how to withdraw. */
export type WrittenTexts = Readonly<Record<string, string>>;

interface TextsFormProps {
  readonly siteId: string;
  readonly draft: ConfigurationDraft;
  readonly language: string;
  readonly defaults: Defaults | undefined;
  readonly isReadOnly: boolean;
  /** Texts that were typed and not saved, by language. They stay when another language is chosen. */
  readonly written: Readonly<Record<string, WrittenTexts>>;
  readonly onLanguage: (language: string) => void;
  /** A text that is being written. */
  readonly onWrite: (name: string, text: string) => void;
  readonly onSaved: (language: string, texts: WrittenTexts) => void;
}

/** The texts of the banner in one language. */
export function TextsForm({
  siteId,
  draft,
  language,
  defaults,
  isReadOnly,
  written,
  onLanguage,
  onWrite,
  onSaved,
}: TextsFormProps) {
  const { banner, common } = useMessages();
  const { languageName } = useFormats();
  const api = useApi();
  const texts = draft.banner[language] ?? {};
  const typed = written[language] ?? {};
  const names = [...new Set([...NAMES, ...Object.keys(texts)])];
  const nameOf = (name: string) => banner.names[name] ?? name;
  const known = defaults?.texts.get(language);
  const standard = known === undefined ? [] : defaultsIn(draft, language, known);
  const hintOf = (name: string) => {
    if (standard.includes(name)) return { hint: banner.defaults.isDefault };
    const hasUsualWord = NAMES.some((one) => one === name) && !WITHOUT_USUAL_WORD.includes(name);
    return hasUsualWord ? { hint: banner.defaultLabel } : {};
  };
  const change = useDraftChange(siteId, async (values: Values, revision) => {
    const url = values.text('withdrawal_url').trim() || null;
    const changed = url === (draft.withdrawal_url ?? null) ? null : await changeUrl(api, siteId, url, revision);
    const given = names.map((name) => [name, values.text(`texts.${name}`)] as const);
    await answerOf(
      api.PUT('/api/v1/sites/{site_id}/banner-texts/{language}', {
        params: { path: { site_id: siteId, language } },
        body: {
          texts: Object.fromEntries(given.filter(([, text]) => text.trim() !== '')),
          withdrawal: values.text('withdrawal').trim() || null,
          revision: changed?.revision ?? revision,
        },
      }),
    );
    const saved = { withdrawal: values.text('withdrawal'), withdrawal_url: values.text('withdrawal_url') };
    onSaved(language, { ...Object.fromEntries(given), ...saved });
  });
  return (
    <Section title={banner.texts} lead={isReadOnly ? undefined : banner.textsLead}>
      <SelectInput
        name="language"
        label={banner.textsLanguage}
        value={language}
        onChange={onLanguage}
        options={draft.languages.map((value) => ({
          value,
          label: written[value] === undefined ? languageName(value) : banner.notSaved(languageName(value)),
        }))}
      />
      {defaults?.unconfirmed.includes(language) === true ? (
        <Notice kind="warning">
          <p>{banner.defaults.unread(languageName(language))}</p>
        </Notice>
      ) : null}
      {isReadOnly ? (
        <Facts
          items={[
            ...Object.entries(texts).map(([name, text]) => [nameOf(name), text] as const),
            [banner.withdrawal, draft.withdrawal[language] ?? ''],
            [banner.withdrawalUrl, draft.withdrawal_url ?? ''],
          ]}
        />
      ) : (
        <ActionForm key={language} submit={common.save} action={change} done={common.saved}>
          {names.map((name) => (
            <TextInput
              key={name}
              name={`texts.${name}`}
              label={nameOf(name)}
              defaultValue={typed[name] ?? texts[name] ?? ''}
              rows={name === 'text' ? 3 : 1}
              onChange={(text) => onWrite(name, text)}
              isRequired={WITHOUT_USUAL_WORD.includes(name)}
              {...hintOf(name)}
            />
          ))}
          <TextInput
            name="withdrawal"
            label={banner.withdrawal}
            defaultValue={typed.withdrawal ?? draft.withdrawal[language] ?? ''}
            rows={2}
            onChange={(text) => onWrite('withdrawal', text)}
            isRequired
            {...hintOf('withdrawal')}
          />
          <TextInput
            key={draft.withdrawal_url}
            name="withdrawal_url"
            label={banner.withdrawalUrl}
            hint={banner.withdrawalUrlHint}
            defaultValue={typed.withdrawal_url ?? draft.withdrawal_url ?? ''}
            onChange={(text) => onWrite('withdrawal_url', text)}
          />
        </ActionForm>
      )}
    </Section>
  );
}

/** Changes the address of every language, before the texts: a refused address leaves all of it as it was. */
function changeUrl(api: Api, siteId: string, url: string | null, revision: number) {
  return dataOf(
    api.PATCH('/api/v1/sites/{site_id}/configuration', {
      params: { path: { site_id: siteId } },
      body: { withdrawal_url: url, revision },
    }),
  );
}
