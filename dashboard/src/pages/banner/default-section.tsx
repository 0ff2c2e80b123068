import { DEFAULT_LANGUAGES } from '../../../../schemas/banner/load-texts.js';
import { dataOf } from '../../api/client.js';
import type { ConfigurationDraft } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import type { Values } from '../../ui/action-form.js';
import { Confirm } from '../../ui/confirm.js';
import { Checkbox } from '../../ui/fields.js';
import { Notice } from '../../ui/notice.js';
import { Section } from '../../ui/page.js';
import { categoriesToAdd, withDefaults } from './default-texts.js';
import type { Defaults } from './use-defaults.js';
import { useDraftChange } from './use-draft.js';

interface DefaultSectionProps {
  readonly siteId: string;
  readonly draft: ConfigurationDraft;
  readonly defaults: Defaults;
  /** Called when the draft has the default texts. */
  readonly onFilled: () => void;
}

/** Offers the default texts for what the draft does not say yet. */
export function DefaultSection({ siteId, draft, defaults: { texts, unconfirmed }, onFilled }: DefaultSectionProps) {
  const { banner } = useMessages();
  const { languageName, list } = useFormats();
  const api = useApi();
  const named = (languages: readonly string[]) => list(languages.map(languageName));
  const others = draft.languages.filter((language) => !texts.has(language));
  const addable = categoriesToAdd(draft);
  const fill = useDraftChange(siteId, async (values: Values) => {
    const params = { path: { site_id: siteId } };
    // The revision belongs to these texts, so that no later change is lost.
    const now = await dataOf(api.GET('/api/v1/sites/{site_id}/configuration', { params }));
    const { changed_at, problems, has_changes, in_force, cookies, ...content } = now;
    const added = categoriesToAdd(now).filter((key) => values.isTicked(`add.${key}`));
    const body = {
      ...content,
      ...withDefaults(now, texts, added),
      cookies: cookies.map(({ id, ...cookie }) => cookie),
    };
    return dataOf(api.PUT('/api/v1/sites/{site_id}/configuration', { params, body }));
  });
  return (
    <Section title={banner.defaults.title} lead={banner.defaults.lead}>
      {unconfirmed.length === 0 ? null : (
        <Notice kind="warning">
          <p>{banner.defaults.unread(named(unconfirmed))}</p>
        </Notice>
      )}
      {others.length === 0 ? null : (
        <>
          <p>{banner.defaults.none(named(others))}</p>
          <p className="hint">
            {banner.defaults.offered(list(DEFAULT_LANGUAGES.map((tag) => `${languageName(tag)} (${tag})`)))}
          </p>
        </>
      )}
      {texts.size === 0 ? null : (
        <div className="actions">
          <Confirm
            label={banner.defaults.use}
            isDanger={false}
            action={async (values) => {
              await fill(values);
              onFilled();
            }}
          >
            <p>{banner.defaults.useText}</p>
            {addable.length === 0 ? null : (
              <fieldset className="field">
                <legend className="label">{banner.defaults.add}</legend>
                {addable.map((key) => (
                  <Checkbox key={key} name={`add.${key}`}>
                    {banner.defaults.usual[key]}
                  </Checkbox>
                ))}
                <p className="hint">{banner.defaults.addHint}</p>
              </fieldset>
            )}
          </Confirm>
        </div>
      )}
    </Section>
  );
}
