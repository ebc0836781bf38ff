{{/* The name of everything that the chart installs. */}}
{{- define "operator.name" -}}
{{- .Values.fullnameOverride | default .Values.nameOverride | default .Chart.Name -}}
{{- end }}

{{/* The name of a cluster-scoped object, unique for each installation. */}}
{{- define "operator.clusterName" -}}
{{- $name := include "operator.name" . -}}
{{- ternary $name (printf "%s-%s" .Release.Namespace $name) (eq $name .Chart.Name) -}}
{{- end }}

{{- define "operator.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (include "operator.name" .) -}}
{{- end }}

{{- define "operator.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ include "operator.name" . | quote }}
{{- end }}

{{/* Labels of every object. Those of the chart take precedence over commonLabels. */}}
{{- define "operator.labels" -}}
{{- merge (include "operator.ownLabels" . | fromYaml) .Values.commonLabels | toYaml -}}
{{- end }}

{{/* The labels of an object that has a value for labels, too: a list of the root and these labels. */}}
{{- define "operator.labelsWith" -}}
{{- merge (include "operator.labels" (index . 0) | fromYaml) (index . 1 | default dict) | toYaml -}}
{{- end }}

{{- define "operator.podLabels" -}}
{{- $own := include "operator.selectorLabels" . | fromYaml -}}
{{- merge (set $own "app.kubernetes.io/component" "operator") .Values.podLabels .Values.commonLabels | toYaml -}}
{{- end }}

{{- define "operator.ownLabels" -}}
{{ include "operator.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: {{ .Chart.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "operator.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end }}

{{- define "operator.clientImage" -}}
{{- .Values.clientImage | default (include "operator.image" .) -}}
{{- end }}

{{/* The operator's rules, which controller-gen derives from the code. */}}
{{- define "operator.rules" -}}
{{- $role := .Files.Get "generated/role.yaml" | fromYaml -}}
{{- required "generated/role.yaml has no rules: run `make manifests`" $role.rules | toYaml -}}
{{- end }}

{{/* What the restricted Pod Security Standard requires of a container. */}}
{{- define "operator.containerSecurityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* No runAsUser: the image names its own user, and OpenShift assigns one. */}}
{{- define "operator.podSecurityContext" -}}
runAsNonRoot: true
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/* Scheduling of the chart's pods. */}}
{{- define "operator.placement" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.topologySpreadConstraints }}
topologySpreadConstraints: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
