import { useState } from 'react';
import { dataOf } from '../../api/client.js';
import type { DocumentVersion } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { useLanguage, useMessages } from '../../i18n/locale.js';
import { ActionForm, type Values } from '../../ui/action-form.js';
import { Button } from '../../ui/button.js';
import { Dialog } from '../../ui/dialog.js';
import { SelectInput, TextInput } from '../../ui/fields.js';
import { useAction } from '../../ui/use-action.js';
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
  const api = useApi();
  const [isOpen, setOpen] = useState(false);
  const create = useAction((values: Values) =>
    dataOf(
      api.POST('/api/v1/sites/{site_id}/documents/{document_id}/versions', {
        params: { path: { site_id: siteId, document_id: documentId } },
        body: { language: values.text('language').trim(), ...draftOf(values) },
      }),
    ),
  );
  return (
    <>
      <Button look="primary" onPress={() => setOpen(true)}>
        {documents.addVersion}
      </Button>
      <Dialog title={documents.addVersion} isOpen={isOpen} onClose={() => setOpen(false)} staysOpen>
        <ActionForm
          submit={documents.addVersion}
          onCancel={() => setOpen(false)}
          action={async (values) => {
            await create(values);
            setOpen(false);
          }}
        >
          <LanguageInput defaultValue={language} />
          <DraftFields />
        </ActionForm>
      </Dialog>
    </>
  );
}

interface EditDraftProps {
  readonly siteId: string;
  readonly version: DocumentVersion;
}

/** Changes a draft. */
export function EditDraft({ siteId, version }: EditDraftProps) {
  const { documents, common } = useMessages();
  const api = useApi();
  const [content, setContent] = useState<string | null>(null);
  const change = useAction((values: Values) =>
    dataOf(
      api.PATCH('/api/v1/sites/{site_id}/documents/{document_id}/versions/{version_id}', {
        params: { path: { site_id: siteId, document_id: version.document_id, version_id: version.id } },
        body: draftOf(values),
      }),
    ),
  );
  const close = () => setContent(null);
  const open = async () => setContent(await (await readVersion(api, siteId, version)).text());
  return (
    <>
      <Button onPress={open} aria-label={`${common.edit}: ${version.title}`}>
        {common.edit}
      </Button>
      <Dialog title={documents.editVersion} isOpen={content !== null} onClose={close} staysOpen>
        <ActionForm
          submit={common.save}
          onCancel={close}
          action={async (values) => {
            await change(values);
            close();
          }}
        >
          <DraftFields title={version.title} mediaType={version.media_type} content={content ?? ''} />
        </ActionForm>
      </Dialog>
    </>
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

function draftOf(values: Values) {
  // A form sends line ends as CR LF; texts of documents have LF.
  const content = values.text('content').replaceAll('\r\n', '\n');
  return { title: values.text('title'), media_type: values.text('media_type'), content };
}
