import { answerOf } from '../../api/client.js';
import type { ConfigurationDraft, DraftCookie } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useFormats, useMessages } from '../../i18n/locale.js';
import { ActionForm, type Values } from '../../ui/action-form.js';
import { SelectInput, TextInput } from '../../ui/fields.js';
import type { AdoptedCookie } from './found-names.js';
import { LIFETIME_UNITS, lifetimeOf, unitNamed } from './lifetime.js';
import { textsIn } from './texts-in.js';
import { useDraftChange } from './use-draft.js';

interface CookieFormProps {
  readonly siteId: string;
  readonly draft: ConfigurationDraft;
  /** Null for a new one. */
  readonly cookie: DraftCookie | null;
  /** Initial values of a new cookie, from the findings of a scan. */
  readonly found?: AdoptedCookie;
  readonly onClose: () => void;
}

/** Adds or changes a cookie of the draft. */
export function CookieForm({ siteId, draft, cookie, found, onClose }: CookieFormProps) {
  const { banner, common, scans } = useMessages();
  const { languageName } = useFormats();
  const api = useApi();
  const start = cookie ?? found ?? null;
  const seconds = start?.duration_seconds ?? null;
  const lifetime = seconds === null ? null : lifetimeOf(seconds);
  const language = draft.default_language ?? draft.languages[0] ?? 'en';
  const save = useDraftChange(siteId, (values: Values, revision) => {
    const body = {
      name: values.text('name').trim(),
      provider: values.text('provider').trim(),
      category: values.text('category'),
      party: values.text('party') === 'third' ? ('third' as const) : ('first' as const),
      duration_seconds: durationIn(values),
      purpose: textsIn(values, 'purpose', draft.languages),
      revision,
    };
    const path = { site_id: siteId };
    return cookie === null
      ? answerOf(api.POST('/api/v1/sites/{site_id}/cookies', { params: { path }, body }))
      : answerOf(
          api.PATCH('/api/v1/sites/{site_id}/cookies/{cookie_id}', {
            params: { path: { ...path, cookie_id: cookie.id } },
            body,
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
      <div className="form-row">
        <TextInput name="name" label={common.name} defaultValue={start?.name ?? ''} isRequired isCode />
        <TextInput name="provider" label={banner.provider} defaultValue={start?.provider ?? ''} isRequired />
      </div>
      <div className="form-row">
        <SelectInput
          name="category"
          label={banner.category}
          {...(cookie !== null && { defaultValue: cookie.category })}
          isRequired
          options={[
            // The user decides on the category of a found cookie: none is suggested.
            ...(found === undefined ? [] : [{ value: '', label: scans.chooseCategory }]),
            ...draft.categories.map(({ key, title }) => ({ value: key, label: title[language] ?? key })),
          ]}
        />
        <SelectInput
          name="party"
          label={banner.party}
          defaultValue={start?.party ?? 'first'}
          options={(['first', 'third'] as const).map((value) => ({ value, label: banner.parties[value] }))}
        />
      </div>
      <div className="form-row">
        <TextInput
          name="duration_seconds"
          type="number"
          label={banner.duration}
          hint={banner.durationHint}
          defaultValue={lifetime?.count.toString() ?? ''}
        />
        <SelectInput
          name="duration_unit"
          label={banner.durationUnit}
          defaultValue={lifetime?.unit ?? 'days'}
          options={Object.entries(banner.durationUnits).map(([value, label]) => ({ value, label }))}
        />
      </div>
      {draft.languages.map((one) => (
        <TextInput
          key={one}
          name={`purpose.${one}`}
          label={banner.purposeIn(languageName(one))}
          defaultValue={cookie?.purpose[one] ?? ''}
          isRequired
        />
      ))}
    </ActionForm>
  );
}

/** Seconds, or null if the field is empty. */
function durationIn(values: Values): number | null {
  const count = values.number('duration_seconds');
  return count === null ? null : count * LIFETIME_UNITS[unitNamed(values.text('duration_unit'))];
}
