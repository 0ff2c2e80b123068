import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { dataOf } from '../../api/client.js';
import type { DocumentVersion } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useFormats, useLanguage, useMessages } from '../../i18n/locale.js';
import { ActionForm, type Values } from '../../ui/action-form.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectInput, TextInput } from '../../ui/fields.js';
import { Loaded } from '../../ui/loaded.js';
import { useAction } from '../../ui/use-action.js';
import { loadTemplate, TEMPLATE_LANGUAGES } from './policy-templates/load-template.js';
import type { PolicyTemplate } from './policy-templates/policy-template.js';
import { readVersion } from './read-version.js';

const MEDIA_TYPES = ['text/markdown', 'text/plain', 'text/html'] as const;

interface WriteDraftProps {
  readonly siteId: string;
  readonly documentId: string;
}

/** Writes a new draft. */
export function WriteDraft({ siteId, documentId }: WriteDraftProps) {
  const { documents } = useMessages();
  const { language } = useLanguage();
  const { languageName } = useFormats();
  const api = useApi();
  const [isOpen, setOpen] = useState(false);
  const [begun, setBegun] = useState<(PolicyTemplate & { readonly language: string }) | null>(null);
  const begin = async (chosen: string) => {
    const found = TEMPLATE_LANGUAGES.find((one) => one === chosen);
    setBegun(found === undefined ? null : { ...(await loadTemplate(found)), language: found });
  };
  const create = useAction((values: Values) =>
    dataOf(
      api.POST('/api/v1/sites/{site_id}/documents/{document_id}/versions', {
        params: { path: { site_id: siteId, document_id: documentId } },
        body: { language: values.text('language').trim(), ...draftOf(values) },
      }),
    ),
  );
  const close = () => {
    setOpen(false);
    setBegun(null);
  };
  return (
    <>
      <Button look="primary" onPress={() => setOpen(true)}>
        {documents.addVersion}
      </Button>
      <Dialog title={documents.addVersion} isOpen={isOpen} onClose={close} staysOpen>
        <ActionForm
          submit={documents.addVersion}
          onCancel={close}
          action={async (values) => {
            await create(values);
            close();
          }}
        >
          <SelectInput
            name="template"
            label={documents.template}
            hint={documents.templateHint}
            value={begun?.language ?? ''}
            onChange={(chosen) => void begin(chosen)}
            options={[
              { value: '', label: documents.noTemplate },
              ...TEMPLATE_LANGUAGES.map((value) => ({ value, label: languageName(value) })),
            ]}
          />
          <LanguageInput key={`language ${begun?.language}`} defaultValue={begun?.language ?? language} />
          <DraftFields key={`draft ${begun?.language}`} {...begun} />
        </ActionForm>
      </Dialog>
    </>
  );
}

interface EditedDraftProps {
  readonly siteId: string;
  readonly version: DocumentVersion;
}

/** The fields of a draft, once its text is there. */
export function EditedDraft({ siteId, version }: EditedDraftProps) {
  const api = useApi();
  const query = useQuery({
    queryKey: ['edited', version.id, version.content_sha256],
    queryFn: async () => (await readVersion(api, siteId, version)).text(),
  });
  return (
    <Loaded query={query}>
      {(content) => <DraftFields title={version.title} mediaType={version.media_type} content={content} />}
    </Loaded>
  );
}

function LanguageInput({ defaultValue }: { readonly defaultValue: string }) {
  const { common, documents } = useMessages();
  return (
    <TextInput
      name="language"
      label={common.language}
      hint={documents.languageHint}
      defaultValue={defaultValue}
      isRequired
    />
  );
}

interface DraftFieldsProps {
  readonly title?: string;
  readonly mediaType?: string;
  readonly content?: string;
}

function DraftFields({ title = '', mediaType = MEDIA_TYPES[0], content = '' }: DraftFieldsProps) {
  const { documents } = useMessages();
  return (
    <>
      <TextInput name="title" label={documents.versionTitle} defaultValue={title} isRequired />
      <SelectInput
        name="media_type"
        label={documents.mediaType}
        defaultValue={mediaType}
        options={MEDIA_TYPES.map((value) => ({ value, label: documents.mediaTypes[value] }))}
      />
      <TextInput name="content" label={documents.content} defaultValue={content} rows={12} isRequired />
    </>
  );
}

/** The members of a version that its form has. */
export function draftOf(values: Values) {
  // A form sends line ends as CR LF; texts of documents have LF.
  const content = values.text('content').replaceAll('\r\n', '\n');
  return { title: values.text('title'), media_type: values.text('media_type'), content };
}
