/**
 * Files, batches and fine-tuning jobs: objects that a vendor stores between calls. Shapes are OpenAI's.
 *
 * Source: OpenAI REST API reference, document version 2.3.0.
 * @module
 */
import type { CallOptions, ResponseContent } from "./call.ts";
import type { JsonObject } from "./openai.ts";

/** The purpose of a file. */
export type FilePurpose =
  | "assistants"
  | "assistants_output"
  | "batch"
  | "batch_output"
  | "fine-tune"
  | "fine-tune-results"
  | "user_data"
  | "vision";

/** A file at a provider. */
export interface FileObject extends JsonObject {
  /** Its id. */
  id: string;
  /** Always `file`. */
  object: "file";
  /** Size, bytes. */
  bytes: number;
  /** Creation time, Unix seconds. */
  created_at: number;
  /** File name. */
  filename: string;
  /** The purpose of the file. */
  purpose: FilePurpose;
  /** Processing state; `processed` if the provider reports none. */
  status: "uploaded" | "processed" | "error";
  /** Expiry time, Unix seconds. */
  expires_at?: number;
}

/** The states of a batch; the last four are final. */
export type BatchStatus =
  | "validating"
  | "in_progress"
  | "finalizing"
  | "cancelling"
  | "completed"
  | "failed"
  | "expired"
  | "cancelled";

/** An error of a batch. */
export interface BatchError {
  /** Error code. */
  code?: string;
  /** Error message. */
  message?: string;
  /** The invalid parameter. */
  param?: string | null;
  /** Line of the input file, from 1. */
  line?: number | null;
}

/** A batch at a provider. */
export interface Batch extends JsonObject {
  /** Its id. */
  id: string;
  /** Always `batch`. */
  object: "batch";
  /** The endpoint of its requests, such as `/v1/chat/completions`. */
  endpoint: string;
  /** Id of the input file. */
  input_file_id: string;
  /** Time within which the batch is to complete, such as `24h`. */
  completion_window: string;
  /** The state of the batch. */
  status: BatchStatus;
  /** Creation time, Unix seconds. */
  created_at: number;
  /** Id of the file with the responses, once it exists. */
  output_file_id?: string;
  /** Id of the file with the failed requests, once it exists. */
  error_file_id?: string;
  /** Errors that failed the batch as a whole. */
  errors?: { object?: string; data?: BatchError[] };
  /** Number of requests in total, completed and failed. */
  request_counts?: { total: number; completed: number; failed: number };
  /** Caller-defined key-value pairs. */
  metadata?: Record<string, string> | null;
}

/** The states of a fine-tuning job; the last three are final. */
export type FineTuningStatus = "validating_files" | "queued" | "running" | "succeeded" | "failed" | "cancelled";

/** A fine-tuning job at a provider. */
export interface FineTuningJob extends JsonObject {
  /** Its id. */
  id: string;
  /** Always `fine_tuning.job`. */
  object: "fine_tuning.job";
  /** The base model. */
  model: string;
  /** Id of the fine-tuned model, once it exists. */
  fine_tuned_model: string | null;
  /** Id of the training file. */
  training_file: string;
  /** Id of the validation file. */
  validation_file: string | null;
  /** Ids of the result files. */
  result_files: string[];
  /** The state of the job. */
  status: FineTuningStatus;
  /** Creation time, Unix seconds. */
  created_at: number;
  /** End time, Unix seconds. */
  finished_at: number | null;
  /** The error that failed the job. */
  error: { code: string; message: string; param: string | null } | null;
  /** Hyperparameters of the training. */
  hyperparameters: {
    batch_size?: "auto" | number | null;
    learning_rate_multiplier?: "auto" | number;
    n_epochs?: "auto" | number;
  };
  /** Number of trained tokens, once the job has ended. */
  trained_tokens: number | null;
  /** Seed, for reproducible runs. */
  seed: number;
  /** The vendor's organization id. */
  organization_id: string;
}

/** A page of a list. */
export interface ObjectPage<Item = JsonObject> extends JsonObject {
  /** Always `list`. */
  object: "list";
  /** The items of the page. */
  data: Item[];
  /** Id of the first item. */
  first_id?: string | null;
  /** Id of the last item: the cursor of the next page. */
  last_id?: string | null;
  /** Whether further pages follow. */
  has_more: boolean;
}

/** A file upload. The content is streamed: memory holds only the chunks in transit. */
export interface FileUpload {
  /** File name. */
  readonly name: string;
  /** Media type. */
  readonly type: string;
  /** The content: iterated once, with backpressure from the provider. */
  readonly content: AsyncIterable<Uint8Array>;
  /** Form fields that are known before the content is read, such as `purpose`. */
  readonly fields: Readonly<Record<string, string>>;
  /** Returns form fields that are known only after the content is read; called once. */
  readonly laterFields: () => Promise<Readonly<Record<string, string>>>;
}

/** The request to create a batch. File ids are the provider's own. */
export interface BatchRequest {
  /** Id of the input file. */
  input_file_id: string;
  /** The endpoint of its requests. */
  endpoint: string;
  /** Time within which the batch is to complete. */
  completion_window: string;
  /** Caller-defined key-value pairs. */
  metadata?: Record<string, string> | null;
  /** Expiry of the output files, seconds after their creation. */
  output_expires_after?: { anchor: "created_at"; seconds: number };
}

/** The request to create a fine-tuning job. File and model ids are the provider's own. */
export interface FineTuneRequest {
  /** The base model. */
  model: string;
  /** Id of the training file. */
  training_file: string;
  /** Id of the validation file. */
  validation_file?: string | null;
  /** The training method and its settings. */
  method?: { type: "supervised" | "dpo" | "reinforcement" };
  /** Hyperparameters, unless `method` sets them. */
  hyperparameters?: {
    batch_size?: "auto" | number;
    learning_rate_multiplier?: "auto" | number;
    n_epochs?: "auto" | number;
  };
  /** Services that receive progress reports. */
  integrations?: readonly { type: string }[] | null;
  /** Seed, for reproducible runs. */
  seed?: number | null;
  /** Suffix of the fine-tuned model's name. */
  suffix?: string | null;
  /** Caller-defined key-value pairs. */
  metadata?: Record<string, string> | null;
}

/** Actions on a fine-tuning job. */
export type FineTuneAction = "cancel" | "pause" | "resume";

/** The infrastructure features of a vendor. They are data, so that they can be read without a call. */
export interface InfrastructureFacts {
  /** File storage, if supported. */
  readonly files?: {
    /** Maximum size of a file, bytes. */
    readonly maxBytes?: number;
    /** Whether the vendor charges for stored files: where a budget applies, none are uploaded. */
    readonly hasFee?: boolean;
  };
  /** Batches, if supported. */
  readonly batch?: {
    /** Maximum number of requests in a batch. */
    readonly maxItems?: number;
    /** Maximum size of an input file, bytes. */
    readonly maxBytes?: number;
    /** Price relative to single requests. @default {1} */
    readonly priceFactor?: number;
  };
  /** Whether fine-tuning is supported. */
  readonly fineTuning?: true;
}

/**
 * Files, batches and fine-tuning jobs at a vendor. Methods throw as `complete` of a provider does. Ids are the provider's own; an account accesses
 * only its own objects.
 */
export interface Infrastructure {
  /** The supported features. */
  readonly facts: InfrastructureFacts;
  /** Uploads a file. */
  uploadFile(upload: FileUpload, options: CallOptions): Promise<FileObject>;
  /** Retrieves a file's metadata. */
  retrieveFile(id: string, options: CallOptions): Promise<FileObject>;
  /** Streams a file's content. */
  fileContent(id: string, options: CallOptions): Promise<ResponseContent>;
  /** Deletes a file. */
  deleteFile(id: string, options: CallOptions): Promise<void>;
  /** Creates a batch. */
  submitBatch(request: BatchRequest, options: CallOptions): Promise<Batch>;
  /** Retrieves the current state of a batch. */
  retrieveBatch(id: string, options: CallOptions): Promise<Batch>;
  /** Requests the cancellation of a batch. */
  cancelBatch(id: string, options: CallOptions): Promise<Batch>;
  /** Creates a fine-tuning job. */
  createFineTune(request: FineTuneRequest, options: CallOptions): Promise<FineTuningJob>;
  /** Retrieves the current state of a fine-tuning job. */
  retrieveFineTune(id: string, options: CallOptions): Promise<FineTuningJob>;
  /** Cancels, pauses or resumes a job. */
  changeFineTune(id: string, action: FineTuneAction, options: CallOptions): Promise<FineTuningJob>;
  /**
   * Lists a job's events or checkpoints.
   *
   * @param path The job id, the list and the query, such as `ftjob-1/events?limit=2`.
   */
  listOfFineTune(path: string, options: CallOptions): Promise<ObjectPage>;
}
