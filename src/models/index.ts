export { brokenModel } from "./broken-model.ts";
export { defaultContextOverflowClassifier } from "./classify-failure.ts";
export { fallbackModel, isFailureOfModel, ModelRests } from "./fallback-model.ts";
export { guardModel, type GuardOptions, type ModelInstance } from "./guard-model.ts";
export { LazyModel } from "./lazy-model.ts";
export { patientModel } from "./patient-model.ts";
export { ModelCallError } from "./model-call-error.ts";
export { modelFromEnv, type ConfiguredModel, type ModelEnvironment } from "./model-from-env.ts";
export {
  transcriberFromEnv,
  type Transcriber,
  type TranscriptionEnvironment,
} from "./transcriber-from-env.ts";
export { recitingModel } from "./reciting-model.ts";
export { workersAiModel } from "./workers-ai-model.ts";
